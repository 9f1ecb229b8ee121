"""The report in Chromium: it works offline from a file, by mouse and by keyboard."""

import os
import re
import shutil

import pytest

from beir_eval import EvaluationResult, compare, compare_runs, compare_slices, evaluate
from beir_eval.comparison.slices import by_length
from beir_eval.display.charts import difference_rows
from beir_eval.report import write_report
from report_cases import HOSTILE, benchmark_of, bundled, hostile, made, staged

CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"

pytestmark = [pytest.mark.peers, pytest.mark.slow]
playwright = pytest.importorskip("playwright.sync_api", reason="playwright drives the browser")


# Playwright keeps an event loop in this thread until it ends: open after this file, it would make
# asyncio.run() fail in every file that the same process runs next.
@pytest.fixture(scope="module")
def browser():
    if not os.path.exists(CHROMIUM):  # noqa: PTH110 - a text, as from which
        pytest.skip("there is no chromium here; Debian's package chromium has it")
    with playwright.sync_playwright() as driver:
        # Chromium has no sandbox for root, and containers run as root.
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield browser
        browser.close()


@pytest.fixture
def show(browser, tmp_path):
    """Return a function that writes and opens a report; fail if a page logs or loads anything."""
    contexts, messages, requests = [], [], []

    def open_report(source, *, width=1200, scheme="light", scripts=True, **texts):
        path = tmp_path / f"report-{len(contexts)}.html"
        write_report(path, source, **texts)
        context = browser.new_context(
            viewport={"width": width, "height": 800},
            color_scheme=scheme,
            java_script_enabled=scripts,
            offline=True,
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: messages.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: messages.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(path.as_uri())
        if scripts:
            page.wait_for_selector("#sorted > *, #explorer[hidden]", state="attached")
        return page

    open_report.messages = messages
    yield open_report
    for context in contexts:
        context.close()
    assert messages == []
    assert [url for url in requests if not url.startswith(tmp_path.as_uri())] == []
    assert len(requests) == len(contexts)


@pytest.fixture
def page(show, comparison, texts):
    """The report of the bundled runs."""
    return show(comparison, **texts)


def cells(page, column):
    return [
        row.locator("td, th").nth(column).inner_text()
        for row in page.locator("#query-table tbody tr").all()
    ]


def counts(page):
    """Return how many queries there are, and on how many a system is better, as good and worse."""
    sentence = r"(\d+) queries: .* is better on (\d+), equal on (\d+), worse on (\d+) than .*"
    return list(map(int, re.fullmatch(sentence, page.locator("#counts").inner_text()).groups()))


def ranking(page, side):
    """Return (document id, grade, move) of each entry of the ranking on one side."""
    items = page.locator(".ranking").nth(side).locator("li").all()
    return [
        (
            item.locator(".document > div").last.inner_text(),
            item.locator(".grade").inner_text(),
            item.locator(".move").inner_text(),
        )
        for item in items
    ]


def move_of(rank, other_rank, depth, side):
    """Return the text beside a document: its new rank on the left, its former one on the right."""
    if other_rank is None:
        return f"not in its first {depth}"
    if side == 0:
        return f"→ {other_rank}"
    gain = other_rank - rank
    return f"{'▲' if gain > 0 else '▼'} {abs(gain)}, was {other_rank}" if gain else "= same"


def test_the_report_opens_with_the_verdict_and_all_figures(page, comparison):
    first = "nDCG@10, Recall@10, 30 queries: bm25 is better than bm25-plain"
    assert page.locator("h2#verdict").inner_text() == first
    assert page.locator("table.compared").count() == len(comparison.measures)
    assert page.locator("table.compared circle").count() == len(comparison.measures)
    assert page.locator("#sorted svg").is_visible()
    assert page.locator("#scatter svg").is_visible()
    assert "0.6665" in page.locator("table.compared").first.inner_text()
    pair = comparison.difference("nDCG@10", "bm25")
    assert counts(page) == [30, pair.wins, pair.ties, pair.losses]


def test_the_browser_draws_the_rows_that_plot_draws(page, comparison):
    for measure in comparison.measures:
        page.select_option("#measure", label=measure)
        theirs, ours = comparison.scores[measure].array[
            [comparison.systems.index("bm25-plain"), comparison.systems.index("bm25")]
        ]
        expected = difference_rows(comparison.query_ids, ours.tolist(), theirs.tolist())
        drawn_rows = page.evaluate("document.getElementById('sorted').drawn.data('rows')")
        assert [row["query"] for row in drawn_rows] == [row["query"] for row in expected]
        for field in ("score", "against", "difference", "begin", "end"):
            assert [row[field] for row in drawn_rows] == [row[field] for row in expected]


def test_the_table_is_sorted_by_a_click_and_by_the_keyboard(page, comparison):
    worst = comparison.regressions("nDCG@10", 1)[0]
    best = comparison.improvements("nDCG@10", 1)[0]
    assert cells(page, 0)[0] == worst.query_id
    header = page.locator("#query-table th", has_text="difference")
    assert header.get_attribute("aria-sort") == "ascending"
    header.click()
    playwright.expect(header).to_have_attribute("aria-sort", "descending")
    assert cells(page, 0)[0] == best.query_id
    page.locator("#query-table th").first.get_by_role("button").focus()
    page.keyboard.press("Enter")
    first = page.locator("#query-table tbody tr").first
    playwright.expect(first).to_contain_text(min(comparison.query_ids))
    assert cells(page, 0)[:3] == sorted(comparison.query_ids)[:3]


def test_the_table_is_searched_by_text(page, texts):
    page.get_by_label("Search the queries").fill("mars")
    expected = {query for query, text in texts["queries"].items() if "mars" in text.lower()}
    assert expected
    playwright.expect(page.locator("#query-table tbody tr")).to_have_count(len(expected))
    assert set(cells(page, 0)) == expected


def test_a_click_on_a_query_shows_both_rankings(page, comparison, texts):
    page.get_by_label("Search the queries").fill("q16")
    page.get_by_role("button", name="q16").click()
    assert page.locator("#query").inner_text() == "Query q16"
    assert page.locator("#query-text").inner_text() == texts["queries"]["q16"]
    tops = [comparison.results[name][0].top["q16"] for name in ("bm25-plain", "bm25")]
    ids = [list(top.doc_ids[:10]) for top in tops]
    for side, top in enumerate(tops):
        entries = ranking(page, side)
        assert [entry[0] for entry in entries] == ids[side]
        assert [entry[1] for entry in entries] == [
            "unjudged" if grade is None else f"grade {grade:g}" for grade in top.grades[:10]
        ]
        other_ids = list(tops[1 - side].doc_ids)
        moves = [entry[2] for entry in entries]
        assert moves == [
            move_of(
                rank,
                other_ids.index(doc_id) + 1 if doc_id in other_ids else None,
                len(other_ids),
                side,
            )
            for rank, doc_id in enumerate(ids[side], start=1)
        ]
    assert page.locator(".pair line").count() == len(set(ids[0]) & set(ids[1]))
    document = next(document for document in texts["corpus"] if document.doc_id == ids[1][0])
    item = page.locator(".ranking").nth(1).locator("li").first
    assert document.title in item.inner_text()
    item.locator("summary").click()
    assert document.text[:60] in item.inner_text()


def test_a_query_is_chosen_with_the_keyboard_alone(page, comparison):
    page.locator("#query-table tbody button").nth(1).focus()
    page.keyboard.press("Enter")
    second = comparison.regressions("nDCG@10", 2)[1]
    assert page.locator("#query").inner_text() == f"Query {second.query_id}"
    assert page.evaluate("document.activeElement.id") == "query"
    page.locator("#previous").focus()
    page.keyboard.press("Enter")
    first = comparison.regressions("nDCG@10", 1)[0]
    assert page.locator("#query").inner_text() == f"Query {first.query_id}"
    assert page.locator("#previous").is_disabled()


def test_hovering_shows_the_query_text_and_a_click_on_a_bar_its_rankings(page, comparison, texts):
    worst = comparison.regressions("nDCG@10", 1)[0]
    page.locator("#next").click()
    assert page.locator("#query").inner_text() != f"Query {worst.query_id}"
    bar = page.locator("#sorted .mark-rect path").first
    bar.hover()
    tip = page.locator("#tip").inner_text()
    assert texts["queries"][worst.query_id] in tip
    assert "bm25-plain: " in tip
    assert f"{worst.difference:.4f}".replace("-", "−") in tip  # Vega writes a minus sign
    assert bar.evaluate("bar => getComputedStyle(bar).cursor") == "pointer"
    bar.click()
    assert page.locator("#query").inner_text() == f"Query {worst.query_id}"


def test_hostile_names_and_texts_are_shown_as_text(show):
    comparison, texts = hostile()
    page = show(comparison, **texts)
    assert f"{HOSTILE} title" in page.locator("main").inner_text()
    assert page.title() == f"{HOSTILE} one and {HOSTILE} two"
    page.locator(".ranking summary").first.click()
    assert f"{HOSTILE} text" in page.locator(".ranking details p").first.inner_text()
    page.locator("#sorted .mark-rect path").first.hover()
    assert HOSTILE in page.locator("#tip").inner_text()
    page.get_by_label("Search the queries").fill("onerror")
    playwright.expect(page.locator("#query-table tbody tr")).to_have_count(8)
    assert page.locator("#query-table").inner_text().count(HOSTILE) > 8
    assert page.locator("img, iframe, object, main b").count() == 0
    assert page.evaluate("window.hacked") is None


def test_an_injected_script_does_not_run(show, page):
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
    assert len(show.messages) == 1
    show.messages.clear()
    assert page.evaluate("window.hacked") is None


@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (1200, "dark"), (390, "light")])
def test_axe_finds_no_violation(show, comparison, texts, width, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = show(comparison, width=width, scheme=scheme, **texts)
    page.locator("#query-table tbody button").nth(1).click()
    page.locator("summary").first.click()
    assert violations_on(page, axe) == []
    page = show(staged(), width=width, scheme=scheme)
    page.locator("section[aria-labelledby=stages] .chart svg").nth(1).wait_for()  # a measure each
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert violations_on(page, axe) == []


def violations_on(page, axe):
    """Return what axe finds on a page: rule, impact, and the first element."""
    return [
        (violation["id"], violation["impact"], violation["nodes"][0]["html"][:300])
        for violation in axe.Axe().run(page).response["violations"]
    ]


@pytest.mark.parametrize("make_case", [bundled, hostile])
def test_on_a_phone_nothing_is_wider_than_the_screen(show, make_case):
    comparison, texts = make_case()
    page = show(comparison, width=360, **texts)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.locator(".ranking").nth(1).is_visible()


def test_on_a_phone_captions_end_at_the_screen(show, comparison, texts):
    sliced = compare_slices(
        comparison.results,
        {"length": by_length(texts["queries"])},
        baseline=comparison.baseline,
        measures=comparison.measures,
    )
    page = show(comparison, width=390, slices=sliced, **texts)
    captions = [caption.bounding_box() for caption in page.locator("caption").all()]
    assert len(captions) > 6
    assert max(box["x"] + box["width"] for box in captions) <= 390


def luminance(page, selector, css_property):
    """Return the luminance, 0 to 1, of a colour as computed by the browser."""
    colour = page.locator(selector).first.evaluate(
        "(element, what) => getComputedStyle(element)[what]", css_property
    )
    red, green, blue = (int(channel) for channel in colour.strip("rgba()").split(",")[:3])
    return (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255


def test_the_page_and_its_figures_follow_the_colour_scheme_of_the_reader(show, comparison, texts):
    for scheme, is_dark in (("light", False), ("dark", True)):
        page = show(comparison, scheme=scheme, **texts)
        assert (luminance(page, "body", "backgroundColor") < 0.5) == is_dark
        assert (luminance(page, "#sorted .role-axis-label text", "fill") > 0.5) == is_dark


def test_a_printed_page_is_light_and_has_no_controls(show, comparison, texts):
    page = show(comparison, scheme="dark", **texts)
    page.emulate_media(media="print")
    assert luminance(page, "body", "backgroundColor") > 0.9
    assert luminance(page, "#sorted .role-axis-label text", "fill") < 0.2
    for control in ("#controls", "nav >> nth=0", "#previous", ".dt-search"):
        assert not page.locator(control).is_visible()
    assert page.locator("#rankings .ranking").first.is_visible()
    assert page.pdf().startswith(b"%PDF")


def test_without_scripts_the_verdict_and_the_tables_can_still_be_read(show, comparison, texts):
    page = show(comparison, scripts=False, **texts)
    visible = page.locator("main").inner_text()
    assert "bm25 is better than bm25-plain" in visible
    assert "0.6665" in visible
    assert "Scripts are off" in page.locator("body").inner_text()
    assert page.locator("figcaption:visible, select:visible, #chosen:visible").count() == 0
    assert not page.locator("#explorer").is_visible()


def test_any_two_systems_and_any_measure_can_be_chosen(show):
    comparison = made(20, 3, measures=("nDCG@10", "Recall@3"))
    page = show(comparison)
    page.select_option("#measure", label="Recall@3")
    page.select_option("#system", label="system 2")
    page.select_option("#against", label="system 1")
    ours, theirs = (comparison.scores["Recall@3"].array[index] for index in (2, 1))
    expected = [20, (ours > theirs).sum(), (ours == theirs).sum(), (ours < theirs).sum()]
    assert counts(page) == expected
    assert page.locator("#rankings h3").all_inner_texts() == [
        "system 1, the first 10",
        "system 2, the first 10",
    ]
    # Choosing the same system on both sides swaps the two.
    page.select_option("#against", label="system 2")
    assert page.locator("#system").input_value() == "1"
    assert "system 1 is better" in page.locator("#counts").inner_text()


def test_a_single_result_is_shown_without_a_comparison(show):
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
    # The worst query is shown first.
    assert page.locator("#query").inner_text() == "Query q3"
    assert "This system has no ranking for the query." in page.locator("#rankings").inner_text()
    assert page.locator("#query-scores").inner_text() == "nDCG@10: one 0.0000"
    page.get_by_role("button", name="q1").click()
    assert page.locator(".ranking").count() == 1


def test_a_report_without_rankings_says_so(show):
    results = [repeats[0] for repeats in made(10, 2).results.values()]
    page = show(compare([result.model_copy(update={"top": None}) for result in results]))
    assert "hold no rankings" in page.locator("#rankings").inner_text()


def test_a_benchmark_shows_every_data_set(show):
    page = show(benchmark_of(made(11, 2, seed=1), made(12, 2, seed=2)))
    assert page.locator("[data-figure] svg").count() == 1
    assert page.locator("#counts").inner_text().startswith("11 queries")
    page.select_option("#part", label="set 1")
    assert page.locator("#counts").inner_text().startswith("12 queries")
    assert page.locator(".ranking").count() == 2


def test_a_report_of_7000_queries_is_usable_and_says_what_it_omits(show):
    comparison = made(7000, 2, depth=100)
    texts = {
        "queries": {query: f"what is {query} about" for query in comparison.query_ids},
        "corpus": {
            doc_id: "a long text " * 50
            for repeats in comparison.results.values()
            for top in repeats[0].top.values()
            for doc_id in top.doc_ids[:10]
        },
    }
    page = show(comparison, **texts)
    notice = page.locator(".notice").inner_text()
    assert "titles and texts of documents are held for" in notice
    assert page.locator(".ranking summary").count() == 20
    search = page.get_by_label("Search the queries")
    search.fill("q6999")
    playwright.expect(page.locator("#query-table tbody tr")).to_have_count(1)
    assert cells(page, 0) == ["q6999"]
    search.fill("")
    playwright.expect(page.locator(".dt-info")).to_have_text("Showing 1 to 10 of 7,000 entries")
    page.locator("#next").click()
    assert page.locator(".ranking").count() == 2


def test_queries_without_a_score_are_last_in_either_sort_order(show):
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
    header = page.locator("#query-table th", has_text="difference")
    header.click()
    playwright.expect(header).to_have_attribute("aria-sort", "descending")
    assert cells(page, 1) == expected
    assert page.locator("#query").inner_text() == "Query q1"


def test_the_table_shows_the_page_of_the_chosen_query(page, comparison):
    page.get_by_label("a page").select_option("100")
    order = cells(page, 0)
    assert sorted(order) == sorted(comparison.query_ids)
    page.get_by_label("a page").select_option("10")
    for _ in range(10):
        page.locator("#next").click()
    assert page.locator("#query").inner_text() == f"Query {order[10]}"
    assert page.locator(".dt-info").inner_text() == "Showing 11 to 20 of 30 entries"
    assert page.locator("#query-table tr.chosen button").inner_text() == order[10]
    page.locator("#back").click()
    assert page.evaluate("document.activeElement.closest('tr').classList.contains('chosen')")


def test_negative_and_fractional_grades_are_distinguished_from_unjudged_documents(show):
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


def test_the_report_says_when_it_shows_one_of_several_repeats(show):
    qrels = {f"q{number}": {"a": 1} for number in range(6)}
    good = {query: {"a": 2.0, "x": 1.0} for query in qrels}
    bad = {query: {"a": 1.0, "x": 2.0} for query in qrels}
    page = show(compare_runs(qrels, {"A": bad, "B": [good, bad]}, ["MRR"], baseline="A"))
    titles = page.locator("#rankings h3").all_inner_texts()
    assert titles == ["A, the first 2", "B (the first of 2 repeats), the first 2"]
    scores = page.locator("#query-scores").inner_text()
    for words in ("MRR", "means of the repeats", "B 0.7500", "A 0.5000", "+0.2500"):
        assert words in scores


def test_where_lower_is_better_the_page_counts_and_colours_a_lower_score_as_a_gain(show):
    base = {f"q{number}": 1 + number / 10 for number in range(9)}
    seconds = {
        "slow": base,
        "fast": {query: second - (0.5 if query < "q7" else -0.1) for query, second in base.items()},
    }
    comparison = compare(
        [
            EvaluationResult.from_scores(name, {"seconds": scores}, higher_is_better=False)
            for name, scores in seconds.items()
        ],
        baseline="slow",
    )
    page = show(comparison)
    verdict = page.locator("h2#verdict").inner_text()
    assert verdict.startswith("seconds (lower is better), 9 queries: fast is")
    assert counts(page) == [9, 7, 0, 2]
    assert "above the line slow is better" in page.locator("#scatter-caption").inner_text()
    assert page.locator("td.gained").count() == 7
    assert page.locator("td.lost").count() == 2
    bars = page.evaluate(
        "document.getElementById('sorted').drawn.data('rows').map((row) => row.query)"
    )
    assert bars[:2] == ["q7", "q8"]


def test_the_means_are_sorted_by_a_click_and_by_the_keyboard(show):
    page = show(made(20, 4, measures=("nDCG@10", "MRR")))
    page.get_by_text("All evidence").click()
    heading = page.locator("table.means thead th").nth(2)

    def means():
        cells = page.locator("table.means tbody tr td:nth-child(3)").all_inner_texts()
        return [float(text.split()[0]) for text in cells]

    heading.locator("button").click()
    assert means() == sorted(means(), reverse=True)
    assert heading.get_attribute("aria-sort") == "descending"
    heading.locator("button").press("Enter")
    assert means() == sorted(means())
    assert heading.get_attribute("aria-sort") == "ascending"
    assert page.locator("table.means [aria-sort]").count() == 1


def test_above_the_rankings_stand_the_relevant_documents_with_their_ranks(page, comparison):
    page.get_by_label("Search the queries").fill("q16")
    page.get_by_role("button", name="q16").click()
    rows = page.locator("#rankings .relevant tbody tr")
    assert rows.count()
    names = page.locator("#rankings .relevant thead th").all_inner_texts()[2:]
    assert names == ["bm25-plain", "bm25"]
    tops = [comparison.results[name][0].top["q16"].doc_ids for name in ("bm25-plain", "bm25")]
    for text in rows.all_inner_texts():
        label, _, *ranks = text.split("\t")
        doc_id = label.rpartition("(")[2].rstrip(")")
        for top, rank in zip(tops, ranks, strict=True):
            missing = f"not in the first {len(top)}"
            assert rank == (str(top.index(doc_id) + 1) if doc_id in top else missing)
