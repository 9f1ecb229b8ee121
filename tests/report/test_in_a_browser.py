"""The report in Chromium: it works from disk, alone, for the mouse and for the keyboard."""

import os
import shutil

import pytest

from beir_eval import compare, compare_runs, evaluate
from beir_eval.benchmark import BenchmarkResult
from beir_eval.display.chart_parts import difference_rows
from beir_eval.report import write_report
from report_cases import HOSTILE, bundled, hostile, made

CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"

pytestmark = pytest.mark.peers
playwright = pytest.importorskip("playwright.sync_api", reason="playwright drives the browser")


@pytest.fixture(scope="session")
def browser():
    if not os.path.exists(CHROMIUM):  # noqa: PTH110 - as which gives it
        pytest.skip("there is no chromium here; Debian's package chromium has it")
    with playwright.sync_playwright() as started:
        # Chromium has no sandbox for the administrator, whom containers run as.
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = started.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield browser
        browser.close()


@pytest.fixture
def show(browser, tmp_path):
    """Write a report and open it; at the end it must not have complained or asked for anything."""
    contexts, said, asked = [], [], []

    def opened(what, *, width=1200, scheme="light", scripts=True, **texts):
        path = tmp_path / f"report-{len(contexts)}.html"
        write_report(path, what, **texts)
        context = browser.new_context(
            viewport={"width": width, "height": 800},
            color_scheme=scheme,
            java_script_enabled=scripts,
            offline=True,
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(path.as_uri())
        if scripts:
            page.wait_for_selector("#sorted > *, #explorer[hidden]", state="attached")
        return page

    opened.said = said
    yield opened
    for context in contexts:
        context.close()
    assert said == []
    assert [one for one in asked if not one.startswith(tmp_path.as_uri())] == []
    assert len(asked) == len(contexts)


@pytest.fixture(scope="module")
def compared():
    return bundled()


def cells(page, column):
    return [
        row.locator("td, th").nth(column).inner_text()
        for row in page.locator("#table-place tbody tr").all()
    ]


def ranking(page, side):
    """Document id, grade and move of every entry of one ranking."""
    items = page.locator(".ranking").nth(side).locator("li").all()
    return [
        (
            item.locator(".document > div").last.inner_text(),
            item.locator(".grade").inner_text(),
            item.locator(".move").inner_text(),
        )
        for item in items
    ]


def move_of(rank, other, depth, side):
    """What stands beside a document: on the left where it went, on the right where it came from."""
    if other is None:
        return f"not in its first {depth}"
    if side == 0:
        return f"→ {other}"
    by = other - rank
    return f"{'▲' if by > 0 else '▼'} {abs(by)}, was {other}" if by else "= same"


def test_it_opens_with_the_verdict_and_all_figures(show, compared):
    found, texts = compared
    page = show(found, **texts)
    assert page.locator("h2#verdict").inner_text() == "nDCG@10: bm25 is better than bm25-plain"
    assert page.locator("[data-figure] svg").count() == len(found.measures)
    assert page.locator("#sorted svg").is_visible()
    assert page.locator("#scatter svg").is_visible()
    assert "0.6665" in page.locator("table.means").inner_text()
    counts = page.locator("#counts").inner_text()
    one = found.difference("nDCG@10", "bm25")
    assert counts == (
        f"30 queries: bm25 is better on {one.wins}, as good on {one.ties}, "
        f"worse on {one.losses} than bm25-plain"
    )


def test_the_browser_draws_the_rows_that_plot_draws(show, compared):
    found, texts = compared
    page = show(found, **texts)
    for measure in found.measures:
        page.select_option("#measure", label=measure)
        theirs, ours = found.scores[measure].array[
            [found.systems.index("bm25-plain"), found.systems.index("bm25")]
        ]
        expected = difference_rows(found.query_ids, ours.tolist(), theirs.tolist())
        drawn = page.evaluate("document.getElementById('sorted').drawn.data('rows')")
        assert [row["query"] for row in drawn] == [row["query"] for row in expected]
        for field in ("score", "against", "difference", "begin", "end"):
            assert [row[field] for row in drawn] == [row[field] for row in expected]


def test_the_table_is_sorted_by_a_click_and_by_the_keyboard(show, compared):
    found, texts = compared
    page = show(found, **texts)
    worst = found.regressions("nDCG@10", 1)[0]
    best = found.improvements("nDCG@10", 1)[0]
    assert cells(page, 0)[0] == worst.query_id
    header = page.locator("#table-place th", has_text="difference")
    assert header.get_attribute("aria-sort") == "ascending"
    header.click()
    playwright.expect(header).to_have_attribute("aria-sort", "descending")
    assert cells(page, 0)[0] == best.query_id
    page.locator("#table-place th").first.get_by_role("button").focus()
    page.keyboard.press("Enter")
    first = page.locator("#table-place tbody tr").first
    playwright.expect(first).to_contain_text(min(found.query_ids))
    assert cells(page, 0)[:3] == sorted(found.query_ids)[:3]


def test_the_table_is_searched_by_text(show, compared):
    found, texts = compared
    page = show(found, **texts)
    page.get_by_label("Search the queries").fill("mars")
    expected = {query for query, text in texts["queries"].items() if "mars" in text.lower()}
    assert expected
    playwright.expect(page.locator("#table-place tbody tr")).to_have_count(len(expected))
    assert set(cells(page, 0)) == expected


def test_a_click_on_a_query_shows_both_rankings(show, compared):
    found, texts = compared
    page = show(found, **texts)
    page.get_by_label("Search the queries").fill("q16")
    page.get_by_role("button", name="q16").click()
    assert page.locator("#query").inner_text() == "Query q16"
    assert page.locator("#query-text").inner_text() == texts["queries"]["q16"]
    tops = [found.results[name][0].top["q16"] for name in ("bm25-plain", "bm25")]
    ids = [list(top.doc_ids[:10]) for top in tops]
    for side, top in enumerate(tops):
        shown = ranking(page, side)
        assert [entry[0] for entry in shown] == ids[side]
        assert [entry[1] for entry in shown] == [
            "unjudged" if grade is None else f"grade {grade:g}" for grade in top.grades[:10]
        ]
        other = list(tops[1 - side].doc_ids)
        moves = [entry[2] for entry in shown]
        assert moves == [
            move_of(rank, other.index(doc_id) + 1 if doc_id in other else None, len(other), side)
            for rank, doc_id in enumerate(ids[side], start=1)
        ]
    assert page.locator(".pair line").count() == len(set(ids[0]) & set(ids[1]))
    document = next(one for one in texts["corpus"] if one.doc_id == ids[1][0])
    item = page.locator(".ranking").nth(1).locator("li").first
    assert document.title in item.inner_text()
    item.locator("summary").click()
    assert document.text[:60] in item.inner_text()


def test_a_query_is_chosen_with_the_keyboard_alone(show, compared):
    found, texts = compared
    page = show(found, **texts)
    page.locator("#table-place tbody button").nth(1).focus()
    page.keyboard.press("Enter")
    second = found.regressions("nDCG@10", 2)[1]
    assert page.locator("#query").inner_text() == f"Query {second.query_id}"
    assert page.evaluate("document.activeElement.id") == "query"
    page.locator("#previous").focus()
    page.keyboard.press("Enter")
    first = found.regressions("nDCG@10", 1)[0]
    assert page.locator("#query").inner_text() == f"Query {first.query_id}"
    assert page.locator("#previous").is_disabled()


def test_hovering_shows_the_query_text_and_a_click_on_a_bar_its_rankings(show, compared):
    found, texts = compared
    page = show(found, **texts)
    worst = found.regressions("nDCG@10", 1)[0]
    page.locator("#next").click()
    assert page.locator("#query").inner_text() != f"Query {worst.query_id}"
    bar = page.locator("#sorted .mark-rect path").first
    bar.hover()
    shown = page.locator("#tip").inner_text()
    assert texts["queries"][worst.query_id] in shown
    assert "bm25-plain: " in shown
    assert f"{worst.difference:.4f}".replace("-", "−") in shown  # as Vega writes it
    assert bar.evaluate("bar => getComputedStyle(bar).cursor") == "pointer"
    bar.click()
    assert page.locator("#query").inner_text() == f"Query {worst.query_id}"


def test_hostile_text_shows_as_text_everywhere(show):
    found, texts = hostile()
    page = show(found, **texts)
    visible = page.locator("main").inner_text()
    for expected in (
        f"{HOSTILE} one is better than {HOSTILE} two",
        f"Query {HOSTILE} query 0",
        f"{HOSTILE} text of {HOSTILE} query 0",
        f"{HOSTILE} title",
        f"{HOSTILE} good",
    ):
        assert expected in visible
    assert page.title() == f"{HOSTILE} one and {HOSTILE} two"
    page.locator(".ranking summary").first.click()
    assert f"{HOSTILE} text" in page.locator(".ranking details p").first.inner_text()
    page.locator("#sorted .mark-rect path").first.hover()
    assert HOSTILE in page.locator("#tip").inner_text()
    page.get_by_label("Search the queries").fill("onerror")
    playwright.expect(page.locator("#table-place tbody tr")).to_have_count(8)
    page.locator("#table-place th").first.click()
    assert HOSTILE in page.locator("#table-place").inner_text()
    assert page.locator("#table-place").inner_text().count(HOSTILE) > 8
    # A long label is cut; what is left of it is text as well.
    assert HOSTILE[:30] in page.locator("[data-figure] svg").first.text_content()
    assert page.locator("img, iframe, object, main b").count() == 0
    assert page.evaluate("window.hacked") is None


def test_nothing_but_its_own_scripts_runs(show, compared):
    found, texts = compared
    page = show(found, **texts)
    blocked = page.evaluate(
        """() => new Promise((resolve) => {
            document.addEventListener("securitypolicyviolation", (event) => {
                resolve(event.effectiveDirective);
                event.stopPropagation();
            });
            const script = document.createElement("script");
            script.textContent = "window.hacked = 1";
            document.body.append(script);
        })"""
    )
    assert blocked.startswith("script-src")
    assert len(show.said) == 1
    show.said.clear()
    assert page.evaluate("window.hacked") is None


@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (1200, "dark"), (390, "light")])
def test_axe_finds_no_violation(show, compared, width, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    found, texts = compared
    page = show(found, width=width, scheme=scheme, **texts)
    page.locator("#table-place tbody button").nth(1).click()
    page.locator("summary").first.click()
    violations = axe.Axe().run(page).response["violations"]
    assert [(one["id"], one["impact"], one["nodes"][0]["html"][:300]) for one in violations] == []


@pytest.mark.parametrize("make_case", [bundled, hostile])
def test_on_a_phone_nothing_is_wider_than_the_screen(show, make_case):
    found, texts = make_case()
    page = show(found, width=360, **texts)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.locator(".ranking").nth(1).is_visible()


def luminance(page, selector, what):
    """The brightness, 0 to 1, of a colour as the browser computes it."""
    colour = page.locator(selector).first.evaluate(
        "(element, what) => getComputedStyle(element)[what]", what
    )
    red, green, blue = (int(one) for one in colour.strip("rgba()").split(",")[:3])
    return (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255


def test_it_is_dark_where_the_reader_wants_it_so_and_figures_follow(show, compared):
    found, texts = compared
    for scheme, is_dark in (("light", False), ("dark", True)):
        page = show(found, scheme=scheme, **texts)
        assert (luminance(page, "body", "backgroundColor") < 0.5) == is_dark
        assert (luminance(page, "#sorted .role-axis-label text", "fill") > 0.5) == is_dark


def test_on_paper_it_is_light_and_has_no_controls(show, compared):
    found, texts = compared
    page = show(found, scheme="dark", **texts)
    page.emulate_media(media="print")
    assert luminance(page, "body", "backgroundColor") > 0.9
    assert luminance(page, "#sorted .role-axis-label text", "fill") < 0.2
    for control in ("#controls", "nav >> nth=0", "#previous", ".dt-search"):
        assert not page.locator(control).is_visible()
    assert page.locator("#rankings .ranking").first.is_visible()
    assert page.pdf().startswith(b"%PDF")


def test_without_scripts_the_verdict_and_the_tables_can_still_be_read(show, compared):
    found, texts = compared
    page = show(found, scripts=False, **texts)
    visible = page.locator("main").inner_text()
    assert "bm25 is better than bm25-plain" in visible
    assert "0.6665" in visible
    assert "Scripts are off" in page.locator("body").inner_text()
    assert page.locator("figcaption:visible, select:visible, #chosen:visible").count() == 0
    assert not page.locator("#explorer").is_visible()


def test_any_two_systems_and_any_measure_can_be_chosen(show):
    found = made(20, 3, measures=("nDCG@10", "Recall@3"))
    page = show(found)
    page.select_option("#measure", label="Recall@3")
    page.select_option("#system", label="system 2")
    page.select_option("#against", label="system 1")
    ours, theirs = (found.scores["Recall@3"].array[one] for one in (2, 1))
    assert page.locator("#counts").inner_text() == (
        f"20 queries: system 2 is better on {(ours > theirs).sum()}, as good on "
        f"{(ours == theirs).sum()}, worse on {(ours < theirs).sum()} than system 1"
    )
    assert page.locator("#rankings h3").all_inner_texts() == [
        "system 1, the first 10",
        "system 2, the first 10",
    ]
    # The one that was chosen stays, the other one takes its place.
    page.select_option("#against", label="system 2")
    assert page.locator("#system").input_value() == "1"
    assert "system 1 is better" in page.locator("#counts").inner_text()


def test_one_system_is_shown_alone(show):
    result = evaluate(
        {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 1}},
        {"q1": {"a": 2.0, "x": 1.0}, "q2": {"x": 2.0, "b": 1.0}},
        ["nDCG@10"],
        name="one",
        keep_top=10,
    )
    page = show(result)
    assert page.locator("#counts").inner_text() == "3 queries"
    assert not page.locator("#scatter").is_visible()
    # The worst query first.
    assert page.locator("#query").inner_text() == "Query q3"
    assert "This system has no ranking for the query." in page.locator("#rankings").inner_text()
    assert page.locator("#query-scores").inner_text() == "nDCG@10: one 0.0000"
    page.get_by_role("button", name="q1").click()
    assert page.locator(".ranking").count() == 1


def test_results_without_rankings_say_so(show, tmp_path):
    found = made(10, 2)
    found.save(tmp_path / "saved.json")
    page = show(type(found).load(tmp_path / "saved.json"))
    assert "hold no rankings" in page.locator("#rankings").inner_text()
    assert (
        "was read from a file" in page.locator("section", has=page.locator("#counted")).inner_text()
    )


def test_a_benchmark_shows_every_data_set(show):
    found = {number: made(10 + number, 2, seed=number) for number in (1, 2)}
    results = {
        system: {f"set {number}": one.results[system][0] for number, one in found.items()}
        for system in ("system 0", "system 1")
    }
    names = ("set 1", "set 2")
    benchmark = BenchmarkResult(results, {}, dict.fromkeys(names), dict.fromkeys(names, "test"))
    page = show(benchmark)
    assert page.locator("[data-figure] svg").count() == 1
    assert page.locator("#counts").inner_text().startswith("11 queries")
    page.select_option("#part", label="set 2")
    assert page.locator("#counts").inner_text().startswith("12 queries")
    assert page.locator(".ranking").count() == 2


def test_7000_queries_stay_usable_and_what_is_left_out_is_said(show):
    found = made(7000, 2, depth=100)
    texts = {
        "queries": {query: f"what is {query} about" for query in found.query_ids},
        "corpus": {
            doc_id: "a long text " * 50
            for one in found.results.values()
            for top in one[0].top.values()
            for doc_id in top.doc_ids[:10]
        },
    }
    page = show(found, **texts)
    notice = page.locator(".notice").inner_text()
    assert "titles and texts of documents are held for" in notice
    assert page.locator(".ranking summary").count() == 20
    search = page.get_by_label("Search the queries")
    search.fill("q6999")
    playwright.expect(page.locator("#table-place tbody tr")).to_have_count(1)
    assert cells(page, 0) == ["q6999"]
    search.fill("")
    playwright.expect(page.locator(".dt-info")).to_have_text("Showing 1 to 10 of 7,000 entries")
    page.locator("#next").click()
    assert page.locator(".ranking").count() == 2


def test_queries_without_rankings_are_told_from_the_others(show, monkeypatch):
    from beir_eval.report import write  # noqa: PLC0415

    monkeypatch.setattr(write, "MOST_BYTES", 1_100_000)
    found = made(2000, 2, depth=10)
    page = show(found)
    assert (
        "of 2,000 queries, those on which the systems differ most"
        in page.locator(".notice").inner_text()
    )
    assert "Those in grey have none" in page.locator("#table-place caption").inner_text()
    page.get_by_label("a page").select_option("500")
    bare = page.locator("tr.bare button").first
    bare.click()
    assert "rankings are not in this file" in page.locator("#rankings").inner_text()


@pytest.mark.parametrize(
    "name", ["toString", "constructor", "__proto__", "hasOwnProperty", "@system@"]
)
def test_names_that_mean_something_to_a_program_are_names(show, name):
    found = made(10, 2)
    renamed = {
        one: found.results["system 0"][0].model_copy(update={"name": one}) for one in (name, "B")
    }
    results = {one: {name: result} for one, result in renamed.items()}
    benchmark = BenchmarkResult(results, {}, {name: None}, {name: "test"})
    page = show(benchmark)
    assert page.locator("[data-figure] svg").count() == 1
    assert name in page.locator("[data-figure] svg").text_content()
    assert name in page.locator("#table-place th").all_inner_texts()[3]
    assert page.locator(".ranking").count() == 2
    compared = show(compare(list(renamed.values()), name, draws=2000))
    assert name in compared.locator("#verdict").inner_text()
    assert name in compared.locator("#sorted-caption").inner_text()


def test_queries_without_a_score_stand_last_whichever_way_the_table_is_sorted(show):
    qrels = {f"q{number}": {"a": 1 if number % 2 else 0, "b": 0} for number in range(6)}
    runs = {
        "A": {query: {"a": 2.0, "b": 1.0} for query in qrels},
        "B": {query: {"a": 1.0, "b": 2.0} for query in qrels},
    }
    results = [
        evaluate(qrels, run, ["MRR"], name=name, no_relevant="skip", keep_top=2)
        for name, run in runs.items()
    ]
    page = show(results)
    expected = ["-0.5000"] * 3 + ["n/a"] * 3
    assert cells(page, 1) == expected
    header = page.locator("#table-place th", has_text="difference")
    header.click()
    playwright.expect(header).to_have_attribute("aria-sort", "descending")
    assert cells(page, 1) == expected
    assert page.locator("#query").inner_text() == "Query q1"


def test_what_the_reader_chose_of_the_table_stays_when_another_measure_is_chosen(show, compared):
    found, texts = compared
    page = show(found, **texts)
    page.locator("#table-place th").first.click()
    playwright.expect(page.locator("#table-place th").first).to_have_attribute(
        "aria-sort", "ascending"
    )
    page.get_by_label("a page").select_option("25")
    page.select_option("#measure", label="Recall@10")
    assert cells(page, 0) == sorted(found.query_ids)[:25]


def test_the_table_turns_to_the_page_of_the_next_query(show, compared):
    found, texts = compared
    page = show(found, **texts)
    page.get_by_label("a page").select_option("100")
    order = cells(page, 0)
    assert sorted(order) == sorted(found.query_ids)
    page.get_by_label("a page").select_option("10")
    for _ in range(10):
        page.locator("#next").click()
    assert page.locator("#query").inner_text() == f"Query {order[10]}"
    assert page.locator(".dt-info").inner_text() == "Showing 11 to 20 of 30 entries"
    assert page.locator("#table-place tr.chosen button").inner_text() == order[10]
    page.locator("#back").click()
    assert page.evaluate("document.activeElement.closest('tr').classList.contains('chosen')")


def test_a_chart_that_cannot_be_drawn_takes_nothing_with_it(show, compared, monkeypatch):
    from beir_eval.report import page_figures, write  # noqa: PLC0415

    found, texts = compared
    right = page_figures.page_specification
    for room in (page_figures, write):
        monkeypatch.setattr(
            room,
            "page_specification",
            lambda figure: right(figure) | {"layer": [{"mark": "nothing"}]},
        )
    page = show(found, **texts)
    assert "This chart cannot be drawn" in page.locator("#sorted").inner_text()
    assert page.locator(".ranking").count() == 2


def test_negative_and_fractional_grades_are_told_apart_from_unjudged_documents(show):
    qrels = {"q1": {"a": 0.7, "b": -2, "c": 0}, "q2": {"a": 0.3}}
    run = {"q1": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}, "q2": {"a": 1.0}}
    result = evaluate(qrels, run, ["nDCG@10"], name="one", keep_top=5)
    page = show(result)
    page.get_by_role("button", name="q1").click()
    grades = page.locator(".ranking .grade").all_inner_texts()
    assert grades == ["grade 0.7", "pooled, -2", "grade 0", "unjudged"]
    assert page.locator(".legend .grade").all_inner_texts() == [
        "pooled, -2",
        "grade 0",
        "grade 0.7",
        "unjudged",
    ]


def test_a_document_below_the_first_ranks_is_known_as_far_as_the_results_go(show):
    qrels = {f"q{number}": {"a": 1} for number in range(6)}
    deep = {f"x{place}": float(-place) for place in range(15)}
    runs = {
        "A": {query: {"a": 1.0} | deep for query in qrels},
        "B": {query: {"a": -13.5} | deep for query in qrels},
    }
    found = compare_runs(qrels, runs, ["MRR"], baseline="A", keep_top=30, trust=False)
    page = show(found)
    assert ranking(page, 0)[0][2] == "→ 15"
    assert ranking(page, 1)[9][2] == "▲ 1, was 11"


def test_repeats_are_said_where_one_of_them_is_shown(show):
    qrels = {f"q{number}": {"a": 1} for number in range(6)}
    good = {query: {"a": 2.0, "x": 1.0} for query in qrels}
    bad = {query: {"a": 1.0, "x": 2.0} for query in qrels}
    page = show(compare_runs(qrels, {"A": bad, "B": [good, bad]}, ["MRR"], baseline="A"))
    titles = page.locator("#rankings h3").all_inner_texts()
    assert titles == ["A, the first 2", "B (the first of 2 repeats), the first 2"]
    assert page.locator("#query-scores").inner_text() == (
        "MRR (means of the repeats): B 0.7500, A 0.5000, difference +0.2500"
    )
