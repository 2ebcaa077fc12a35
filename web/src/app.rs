//! The page: starts the engine worker and says whether it has answered.

use wasm_bindgen::prelude::*;
use web_sys::{MessageEvent, Worker};
use yew::prelude::*;

/// Starts the engine worker; its address carries the build, so that a new page never meets a cached old worker.
///
/// # Errors
///
/// Hands back what the browser threw where it cannot start workers.
fn start_engine(on_message: &Closure<dyn FnMut(MessageEvent)>) -> Result<Worker, JsValue> {
    let address = format!("./engine_loader.js?v={}", js_sys::encode_uri_component(crate::BUILD));
    let worker = Worker::new(&address)?;
    worker.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
    Ok(worker)
}

/// The whole page.
#[component]
pub fn App() -> Html {
    let ready = use_state(|| false);
    let engine = use_mut_ref(|| None);
    {
        let ready = ready.clone();
        use_effect_with((), move |()| {
            let on_message = Closure::new(move |_: MessageEvent| ready.set(true));
            *engine.borrow_mut() = start_engine(&on_message).ok();
            move || {
                if let Some(worker) = engine.borrow_mut().take() {
                    worker.terminate();
                }
                drop(on_message);
            }
        });
    }
    html! {
        <main data-testid="app-root" data-ready={ready.to_string()}>
            <h1>{ "Footlights" }</h1>
            <p role="status">{ if *ready { "The engine is ready." } else { "The engine is starting." } }</p>
        </main>
    }
}

/// Mounts the page into the document's `#app` element, in place of the markup that stood there for the first paint.
///
/// # Panics
///
/// Panics where the document has no `#app`: then this is not our index.html.
pub fn run() {
    let root = web_sys::window()
        .and_then(|window| window.document())
        .and_then(|document| document.get_element_by_id("app"))
        .expect("index.html has an element with the id `app`");
    root.set_inner_html("");
    yew::Renderer::<App>::with_root(root).render();
}
