//! Numbers as people type them: `12,345,678`, `1.5`; what cannot be read is refused with a reason, never guessed.

use super::words;

/// Reads a whole number between two bounds.
///
/// # Errors
/// What to type instead.
pub fn whole<T: std::str::FromStr + PartialOrd + std::fmt::Display>(
    text: &str,
    from: T,
    to: T,
) -> Result<T, String> {
    let plain = plain(text)?;
    match plain.parse::<T>() {
        Ok(n) if from <= n && n <= to => Ok(n),
        _ => Err(words::whole_from_to(&from.to_string(), &to.to_string())),
    }
}

/// Reads a number.
///
/// # Errors
/// What to type instead.
pub fn decimal(text: &str) -> Result<f64, String> {
    let plain = plain(text)?;
    plain.parse::<f64>().ok().filter(|x| x.is_finite()).ok_or_else(|| words::no_number(text))
}

/// Takes spaces away, and commas where they stand between groups of three digits.
fn plain(text: &str) -> Result<String, String> {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    if text.is_empty() {
        return Err(words::A_NUMBER_IS_MISSING.into());
    }
    if !text.contains(',') {
        return Ok(text);
    }
    let (before, after) = text.split_once('.').unwrap_or((&text, ""));
    let digits = |s: &str| s.chars().all(|c| c.is_ascii_digit());
    let mut groups = before.trim_start_matches('-').split(',');
    let first = groups.next().unwrap_or_default();
    let grouped =
        (1..=3).contains(&first.len()) && digits(first) && groups.all(|g| g.len() == 3 && digits(g));
    match grouped && digits(after) {
        true => Ok(text.replace(',', "")),
        false => Err(words::POINT_NOT_COMMA.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comma_groups_digits_and_is_no_decimal_point() {
        assert_eq!(whole("10,000,000", 0, 99_000_000), Ok(10_000_000));
        assert_eq!(decimal(" 1,500.25 "), Ok(1_500.25));
        for text in ["1,5", "1,50", "1,2345", ",5", "1.5,000", "1,", "abcd,efg"] {
            assert_eq!(decimal(text), Err(words::POINT_NOT_COMMA.to_owned()), "{text}");
        }
    }

    #[test]
    fn what_is_no_number_or_out_of_bounds_is_refused_with_a_reason() {
        assert_eq!(decimal("abc"), Err(words::no_number("abc")));
        assert_eq!(decimal("inf"), Err(words::no_number("inf")));
        assert_eq!(decimal(""), Err(words::A_NUMBER_IS_MISSING.to_owned()));
        assert_eq!(whole("100", 1_u16, 64), Err(words::whole_from_to("1", "64")));
        assert_eq!(whole("1.5", 1_u16, 64), Err(words::whole_from_to("1", "64")));
        assert_eq!(whole("18446744073709551615", 0, u64::MAX), Ok(u64::MAX));
        assert!(whole("18446744073709551616", 0, u64::MAX).is_err());
    }
}
