//! The engine worker's entry point.

fn main() {
    footlights_web::engine::run();
}
