//! The selected node: its form, its numbers, the decisions made about it.

use footlights::scenario::document::Node;
use footlights::scenario::schema::{self, Param};
use web_sys::HtmlSelectElement;
use yew::prelude::*;

use super::param_field::{Spot, field, is_shown, value_of};
use super::settings;
use super::text_box::TextBox;
use super::{Part, STAGE, focus_on, focus_on_node, may_group, tab_keys, words};
use crate::engine::protocol::{Counter, NodeDetail};
use crate::engine::telemetry::{NO_AGE, NodeRow};
use crate::model::edits::dispatcher_names;
use crate::model::geometry::is_group;
use crate::model::state::{Action, InspectorTab, Tool};
use crate::model::{format, locale as text, reduce};

/// The panel at the right.
#[component]
pub fn Inspector(part: &Part) -> Html {
    // Esc leads back to the graph.
    let onkeydown = {
        let node = part.state.selection.single().map(str::to_owned);
        Callback::from(move |e: KeyboardEvent| {
            if e.key() == "Escape" {
                match &node {
                    Some(node) => focus_on_node(node),
                    None => drop(focus_on(STAGE)),
                }
            }
        })
    };
    html! {
        <aside class="inspector" id="inspector" data-testid="inspector" aria-label={text::INSPECTOR} {onkeydown}>
            { match part.state.selected_node() {
                Some(node) => of_node(part, node),
                None => of_scenario(part),
            } }
        </aside>
    }
}

fn of_scenario(part: &Part) -> Html {
    let doc = &part.state.doc;
    let several = part.state.selection.nodes.len() > 1 && may_group(&part.state);
    html! {
        <>
            <h2>{ &doc.name }</h2>
            if !doc.about.is_empty() { <p class="about">{ &doc.about }</p> }
            <p class="quiet">{ text::NOTHING_SELECTED }</p>
            if several {
                <p class="actions"><button type="button" onclick={part.on(Action::Group)}>{ text::GROUP }</button></p>
            }
            if !part.state.selection.is_empty() {
                <p class="actions"><button type="button" onclick={part.on(Action::Delete)}>{ text::DELETE }</button></p>
            } else {
                { settings::settings(part) }
            }
        </>
    }
}

fn of_node(part: &Part, node: &Node) -> Html {
    let tabs = [
        (InspectorTab::Params, "params", text::TAB_PARAMS),
        (InspectorTab::Stats, "stats", text::TAB_STATS),
        (InspectorTab::Why, "why", text::TAB_WHY),
    ];
    let title = schema::kind(&node.kind).map_or(node.kind.as_str(), |k| k.title);
    let now = tabs.iter().position(|(tab, ..)| *tab == part.state.inspector).unwrap_or(0);
    let keys = tabs
        .iter()
        .map(|(tab, id, _)| (format!("inspector-tab-{id}"), Action::ShowInspector(*tab)))
        .collect();
    let onkeydown = tab_keys(part, now, keys);
    html! {
        <>
            <h2>{ part.state.label_of(&node.id) }<small>{ title }</small></h2>
            <div class="tabs" role="tablist" aria-label={text::INSPECTOR} {onkeydown}>
                { for tabs.into_iter().map(|(tab, id, name)| {
                    let on = part.state.inspector == tab;
                    html! {
                        <button key={id} type="button" role="tab" aria-selected={on.to_string()}
                            tabindex={if on { "0" } else { "-1" }}
                            data-testid={format!("inspector-tab-{id}")} onclick={part.on(Action::ShowInspector(tab))}>{ name }</button>
                    }
                }) }
            </div>
            <div class="panel" role="tabpanel" tabindex="0" key={node.id.clone()} aria-label={text::INSPECTOR}>
                { match part.state.inspector {
                    InspectorTab::Params => params(part, node),
                    InspectorTab::Stats => stats(part, node),
                    InspectorTab::Why => why(part, node),
                } }
            </div>
        </>
    }
}

fn params(part: &Part, node: &Node) -> Html {
    let all: &'static [Param] = schema::kind(&node.kind).map_or(&[], |k| k.params);
    let value = |p: &Param| value_of(&node.params, p);
    let shown: Vec<_> = all.iter().filter(|p| is_shown(p, all, &value)).collect();
    let (faults, usual): (Vec<_>, Vec<_>) = shown.into_iter().partition(|p| p.fault);
    let problems = reduce::problems_of_node(&part.state, &node.id);
    let one = |p: &'static Param| field(part, &Spot::of_node(part, node, p), p);
    html! {
        <>
            { for problems.into_iter().map(|p| html! { <p class="problem" role="note">{ p }</p> }) }
            { for sections(&usual).into_iter().map(|(heading, params)| html! {
                <section key={heading}>
                    if !heading.is_empty() { <h3>{ heading }</h3> }
                    { for params.into_iter().map(one) }
                </section>
            }) }
            if !faults.is_empty() {
                <h3>{ text::FAULTS }</h3>
                { for faults.into_iter().map(one) }
            }
            { label(part, node) }
            { parent(part, node) }
            { dispatcher(part, node) }
            { actions(part, node) }
        </>
    }
}

/// Parameters by section, in the order of the schema.
pub(super) fn sections(params: &[&'static Param]) -> Vec<(&'static str, Vec<&'static Param>)> {
    let mut found: Vec<(&'static str, Vec<&'static Param>)> = Vec::new();
    for param in params {
        match found.iter_mut().find(|(heading, _)| *heading == param.section) {
            Some((_, list)) => list.push(param),
            None => found.push((param.section, vec![param])),
        }
    }
    found
}

fn label(part: &Part, node: &Node) -> Html {
    let (act, id) = (part.act.clone(), node.id.clone());
    let commit = Callback::from(move |typed: String| {
        let short: String = typed.trim().chars().take(200).collect();
        act.emit(Action::SetLabel(id.clone(), short));
    });
    html! {
        <div class="field">
            <label for="param-label">{ text::LABEL }</label>
            <TextBox id="param-label" value={node.label.clone()} placeholder={node.id.clone()} {commit} />
        </div>
    }
}

fn parent(part: &Part, node: &Node) -> Html {
    if !schema::kind(&node.kind).is_some_and(|k| k.may_have_parent()) {
        return Html::default();
    }
    let below = crate::model::geometry::with_descendants(&part.state.doc, &node.id);
    let groups = part.state.doc.nodes.iter().filter(|n| is_group(n) && !below.contains(&n.id));
    let (act, id) = (part.act.clone(), node.id.clone());
    let onchange = Callback::from(move |e: Event| {
        if let Some(select) = e.target_dyn_into::<HtmlSelectElement>() {
            let parent = Some(select.value()).filter(|v| !v.is_empty());
            act.emit(Action::SetParent(vec![id.clone()], parent));
        }
    });
    html! {
        <div class="field">
            <label for="param-parent">{ text::SUPERVISED_BY }</label>
            <select id="param-parent" data-testid="param-parent" {onchange}>
                <option value="" selected={node.parent.is_none()}>{ text::NOBODY }</option>
                { for groups.map(|g| html! {
                    <option key={g.id.clone()} value={g.id.clone()} selected={node.parent.as_ref() == Some(&g.id)}>
                        { part.state.label_of(&g.id) }
                    </option>
                }) }
            </select>
        </div>
    }
}

/// Which workers run it: the system's own, the built-in ones, or those of the document.
fn dispatcher(part: &Part, node: &Node) -> Html {
    if !schema::kind(&node.kind).is_some_and(|k| k.may_have_dispatcher()) {
        return Html::default();
    }
    let mut names = dispatcher_names(&part.state.doc);
    let built_in: Vec<&str> =
        schema::BUILT_IN.into_iter().filter(|name| !names.iter().any(|n| n == name)).collect();
    names.extend(built_in.into_iter().map(str::to_owned));
    let (act, id) = (part.act.clone(), node.id.clone());
    let onchange = Callback::from(move |e: Event| {
        if let Some(select) = e.target_dyn_into::<HtmlSelectElement>() {
            let name = Some(select.value()).filter(|v| !v.is_empty());
            act.emit(Action::SetDispatcher(id.clone(), name));
        }
    });
    html! {
        <div class="field" title={text::DISPATCHER_HINT}>
            <label for="param-dispatcher">{ text::DISPATCHER }</label>
            <select id="param-dispatcher" data-testid="param-dispatcher" {onchange}>
                <option value="" selected={node.dispatcher.is_none()}>{ text::DISPATCHER_DEFAULT }</option>
                { for names.into_iter().map(|name| html! {
                    <option key={name.clone()} value={name.clone()} selected={node.dispatcher.as_ref() == Some(&name)}>{ name.clone() }</option>
                }) }
            </select>
        </div>
    }
}

fn actions(part: &Part, node: &Node) -> Html {
    let group = is_group(node);
    let connect = Action::Take(Tool::ConnectList { node: node.id.clone(), from: None });
    let takes_messages =
        schema::kind(&node.kind).is_some_and(|k| k.family == schema::Family::Actor && k.port("in").is_some());
    let button = |id: &'static str, name: &'static str, action: Action| {
        html! { <button type="button" data-testid={id} onclick={part.on(action)}>{ name }</button> }
    };
    let fail_next = {
        let (act, label) = (part.act.clone(), part.state.label_of(&node.id));
        Callback::from(move |_: MouseEvent| {
            act.emit(Action::FailNext);
            act.emit(Action::Say(words::will_fail(&label)));
        })
    };
    html! {
        <p class="actions">
            if group { { button("node-ungroup", text::UNGROUP, Action::Ungroup) } }
            else {
                { button("node-connect", text::CONNECT, connect) }
                if schema::kind(&node.kind).is_some_and(|k| k.may_have_parent()) {
                    { button("node-group", text::GROUP, Action::Group) }
                }
            }
            if takes_messages && node.kind != "router" {
                { button("node-inject", text::INJECT, Action::Inject) }
                <button type="button" data-testid="node-fail" onclick={fail_next}>{ text::FAIL_NEXT }</button>
            }
            { button("node-delete", text::DELETE, Action::Delete) }
        </p>
    }
}

fn stats(part: &Part, node: &Node) -> Html {
    let live = part.live.borrow();
    let detail = live.detail.as_ref().filter(|d| d.node == node.id);
    let mut rows: Vec<(String, String)> = Vec::new();
    rows.push(("rate".into(), format::rate(live.node_rate(&node.id))));
    if let Some(row) = live.node(&node.id) {
        rows.extend(row_facts(row));
    }
    if let Some(detail) = detail {
        rows.extend(detail_facts(detail));
    }
    html! {
        <>
            { spark(&live.spark(&node.id)) }
            <dl class="facts">
                { for rows.into_iter().map(|(name, value)| html! {
                    <div key={name.clone()} data-testid={format!("stat-{}", name.replace(' ', "-"))}><dt>{ name }</dt><dd>{ value }</dd></div>
                }) }
            </dl>
        </>
    }
}

fn row_facts(row: &NodeRow) -> Vec<(String, String)> {
    let share = |permille: u16| format!("{} %", format::short(f64::from(permille) / 10.0));
    let age = match row.oldest_age_us {
        NO_AGE => text::NO_DATA.into(),
        us => format::time_ns(u64::from(us) * 1_000),
    };
    vec![
        ("state".into(), row.state.name().replace('_', " ")),
        ("busy".into(), share(row.busy_permille)),
        ("awaiting room".into(), row.backpressured().map_or(text::NO_DATA.into(), share)),
        ("blocked".into(), share(row.blocked_permille)),
        ("queued".into(), format::grouped(u64::from(row.queued))),
        ("oldest message".into(), age),
        ("restarts".into(), format::grouped(u64::from(row.restarts))),
    ]
}

fn detail_facts(detail: &NodeDetail) -> Vec<(String, String)> {
    let mut rows: Vec<(String, String)> = Vec::new();
    for counter in detail.counters.iter().filter(|c| !matches!(c.name.as_str(), "queued" | "restarts")) {
        let Some((name, value)) = counted(counter, &detail.counters) else { continue };
        // A behaviour may count what the runtime counts, too: once is enough, unless the two differ.
        match rows.iter().find(|(other, _)| *other == name) {
            Some((_, same)) if *same == value => {}
            Some(_) => rows.push((words::own_count(&name), value)),
            None => rows.push((name, value)),
        }
    }
    if let Some(mailbox) = &detail.mailbox {
        let room = mailbox.capacity.map_or("unbounded".into(), format::grouped);
        rows.push(("mailbox".into(), format!("{} of {room}", format::grouped(mailbox.depth))));
        let policy = match mailbox.capacity {
            Some(_) => mailbox.policy.replace('_', " "),
            None => words::NEVER_FULL.into(),
        };
        rows.push(("when full".into(), policy));
    }
    rows.extend(detail.facts.iter().map(|f| (f.name.clone(), f.value.clone())));
    rows
}

/// A counter in words. A total of times is shown as their mean; of nothing there is none.
fn counted(counter: &Counter, all: &[Counter]) -> Option<(String, String)> {
    if let Some(stem) = counter.name.strip_suffix("_ns_total") {
        let of = |name: &str| all.iter().find(|c| c.name == name).map_or(0, |c| c.value);
        let n = if stem == "response" { of("answered") } else { of("collected") };
        return (n > 0).then(|| (format!("mean {stem}"), format::time_ns(counter.value / n)));
    }
    if let Some(stem) = counter.name.strip_suffix("_ns_max") {
        return (counter.value > 0).then(|| (format!("longest {stem}"), format::time_ns(counter.value)));
    }
    Some((counter.name.replace('_', " "), format::grouped(counter.value)))
}

/// The rate over the last minute as a line.
fn spark(points: &[f32]) -> Html {
    if points.len() < 2 {
        return Html::default();
    }
    let top = points.iter().copied().fold(1e-6, f32::max);
    let at = |(i, p): (usize, &f32)| {
        format!("{:.1},{:.1}", i as f32 * 200.0 / (points.len() - 1) as f32, 38.0 - 36.0 * p / top)
    };
    let line: Vec<String> = points.iter().enumerate().map(at).collect();
    let label = format!("rate over the last {} s, at most {}/s", points.len(), format::big(f64::from(top)));
    html! {
        <svg class="spark" viewBox="0 0 200 40" preserveAspectRatio="none" role="img" aria-label={label}>
            <polyline points={line.join(" ")} fill="none" vector-effect="non-scaling-stroke" />
        </svg>
    }
}

fn why(part: &Part, node: &Node) -> Html {
    let live = part.live.borrow();
    let detail = live.detail.as_ref().filter(|d| d.node == node.id);
    let decisions = detail.map(|d| d.decisions.as_slice()).unwrap_or_default();
    html! {
        if decisions.is_empty() {
            <p class="quiet">{ text::NO_DECISIONS }</p>
        } else {
            <ol class="why">
                { for decisions.iter().map(|d| html! {
                    <li><span class="when">{ format!("#{} {}", format::grouped(d.turn), format::time_ns(d.at_ns)) }</span>{ &d.why }</li>
                }) }
            </ol>
        }
    }
}
