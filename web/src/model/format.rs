//! Numbers as people read them. No data is "n/a", never 0 and never NaN.

/// A virtual time: `850 µs`, `12.4 s`, `1:02:03`.
pub fn time_ns(ns: u64) -> String {
    match ns {
        0 => "0 s".into(),
        1..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{} µs", short(ns as f64 / 1e3)),
        1_000_000..1_000_000_000 => format!("{} ms", short(ns as f64 / 1e6)),
        1_000_000_000..600_000_000_000 => format!("{:.3} s", ns as f64 / 1e9),
        _ => {
            let s = ns / 1_000_000_000;
            format!("{}:{:02}:{:02}", s / 3_600, s / 60 % 60, s % 60)
        }
    }
}

/// Three significant digits, without a tail of zeros.
pub fn short(x: f64) -> String {
    if !x.is_finite() {
        return "n/a".into();
    }
    let digits = match x.abs() {
        a if a >= 99.95 || a == 0.0 => 0,
        a if a >= 9.995 => 1,
        a if a >= 0.9995 => 2,
        _ => 3,
    };
    let text = format!("{x:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// A rate or a count with a factor: `950`, `12.4 k`, `3.1 M`.
pub fn big(x: f64) -> String {
    match x.abs() {
        a if a >= 999.5e6 => format!("{} G", short(x / 1e9)),
        a if a >= 999.5e3 => format!("{} M", short(x / 1e6)),
        a if a >= 10_000.0 => format!("{} k", short(x / 1e3)),
        _ => short(x),
    }
}

/// A rate per second; `n/a` without data.
pub fn rate(per_s: Option<f64>) -> String {
    per_s.map_or_else(|| "n/a".into(), |r| format!("{}/s", big(r)))
}

/// A whole number with thin groups: `12,345,678`.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// A speed in thousandths: `×0.001`, `×1`, `×10`.
pub fn speed(permille: u32) -> String {
    format!("×{}", short(f64::from(permille) / 1_000.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(time_ns(1_284_000_000), "1.284 s");
        assert_eq!(time_ns(38_000_000), "38 ms");
        assert_eq!(time_ns(3_723_000_000_000), "1:02:03");
        assert_eq!(
            (big(12_400.0), big(999_999_999.0), big(7.4)),
            ("12.4 k".into(), "1 G".into(), "7.4".into())
        );
        assert_eq!(
            (grouped(0), grouped(1_000), grouped(1_234_567)),
            ("0".into(), "1,000".into(), "1,234,567".into())
        );
        assert_eq!(speed(1), "×0.001");
        assert_eq!(rate(None), "n/a");
        assert_eq!(short(f64::NAN), "n/a");
    }
}
