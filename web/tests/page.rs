//! The page in a real browser, without its engine.

#![cfg(target_family = "wasm")]

use wasm_bindgen_futures::JsFuture;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_browser);

#[wasm_bindgen_test]
async fn the_page_takes_the_place_of_the_markup_of_the_first_paint() {
    let document = web_sys::window().and_then(|window| window.document()).expect("a browser has a document");
    let root = document.create_element("div").expect("a div can be made");
    root.set_id("app");
    root.set_inner_html("<p>Loading.</p>");
    document.body().expect("a document has a body").append_child(&root).expect("it takes the div");

    footlights_web::app::run();
    // Yew renders in a microtask: one that is made later runs later.
    JsFuture::from(js_sys::Promise::resolve(&js_sys::Array::new())).await.expect("it is resolved already");

    let text = root.text_content().unwrap_or_default();
    assert!(text.starts_with("Footlights") && !text.contains("Loading"), "the page says: {text}");
}
