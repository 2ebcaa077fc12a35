//! `codes!`: enums whose variants have a stable number and a stable English name.
//!
//! Why: the numbers go into the event log's hash and the names on the screen, so neither may follow a reordering.
//! Numbers count from 0 without gaps, so that they also index an array of [`COUNT`](crate::supervise::Directive::COUNT)
//! counters. It makes nothing but plain `Copy` enums.

macro_rules! codes {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$doc:meta])* $variant:ident = $code:literal, $text:literal;)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
        #[cfg_attr(feature = "scenario", serde(rename_all = "snake_case"))]
        #[repr(u8)]
        pub enum $name { $($(#[$doc])* $variant = $code,)+ }

        impl $name {
            /// Lists all variants in the order of their codes.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];
            /// Counts the variants.
            pub const COUNT: usize = Self::ALL.len();

            /// Gives the stable number that is hashed and logged.
            pub const fn code(self) -> u8 {
                self as u8
            }

            /// Finds the variant of a stable number.
            pub fn from_code(code: u8) -> Option<Self> {
                Self::ALL.get(usize::from(code)).copied()
            }

            /// Gives the stable English name.
            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $text,)+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        // The codes count from 0 without gaps: `from_code` and arrays of counters rely on it.
        const _: () = {
            let mut index = 0;
            while index < $name::COUNT {
                assert!($name::ALL[index] as usize == index);
                index += 1;
            }
        };
    };
}

pub(crate) use codes;
