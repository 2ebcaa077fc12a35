//! The painters in a real browser: they draw something for each scenario that ships, with and without counters.

#![cfg(target_family = "wasm")]

use footlights_web::canvas::pen::Pen;
use footlights_web::canvas::theme::{DARK, LIGHT};
use footlights_web::canvas::{Scene, edges, nodes};
use footlights_web::model::builtin;
use footlights_web::model::geometry::Layout;
use footlights_web::model::live::Live;
use footlights_web::model::state::State;
use footlights_web::model::viewport::{Rect, Viewport};
use wasm_bindgen::JsCast;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};

wasm_bindgen_test_configure!(run_in_browser);

const SIZE: (f64, f64) = (800.0, 600.0);

fn canvas() -> (HtmlCanvasElement, CanvasRenderingContext2d) {
    let document = web_sys::window().and_then(|w| w.document()).expect("a browser has a document");
    let canvas: HtmlCanvasElement =
        document.create_element("canvas").expect("a canvas can be made").unchecked_into();
    canvas.set_width(SIZE.0 as u32);
    canvas.set_height(SIZE.1 as u32);
    let context =
        canvas.get_context("2d").expect("it has a context").expect("of the 2d kind").unchecked_into();
    (canvas, context)
}

#[wasm_bindgen_test]
fn every_scenario_that_ships_is_drawn_before_its_first_counters() {
    for at in 0..builtin::ALL.len() {
        let doc = builtin::load(at).expect("it ships").into();
        let state = State { doc, ..State::default() };
        let (live, layout) = (Live::default(), Layout::of(&state.doc, &|_| None));
        let view = Viewport::fit(layout.extent().expect("it has nodes"), SIZE.0, SIZE.1);
        let theme = if at == 0 { &DARK } else { &LIGHT };
        let visible = Rect { x: -1e4, y: -1e4, w: 2e4, h: 2e4 };
        let scene = Scene {
            state: &state,
            live: &live,
            layout: &layout,
            view,
            visible,
            theme,
            wire: None,
            marquee: None,
            drop_group: None,
            hover: None,
            now_ms: 0.0,
            calm: false,
        };
        for paint in [edges::paint, nodes::paint] {
            let (canvas, context) = canvas();
            let pen = Pen { ctx: &context };
            pen.begin(view, SIZE.0, SIZE.1, 1.0);
            let empty = canvas.to_data_url().expect("a picture");
            paint(&pen, &scene);
            assert_ne!(canvas.to_data_url().expect("a picture"), empty, "scenario {at} is drawn");
        }
    }
}
