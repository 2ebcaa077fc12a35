//! The page's entry point.

fn main() {
    footlights_web::app::run();
}
