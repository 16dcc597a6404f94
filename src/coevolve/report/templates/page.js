"use strict";
// Unpacks and shows the lineage of one chain at a time. Every text becomes a text node: nothing of a task is ever markup.
(() => {
  const $ = (id) => document.getElementById(id);
  const state = { run: 0, open: null, hits: null };
  const indexes = new Map();
  const unpacked = new Map();

  function make(tag, content = [], attributes = {}) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name === "class") node.className = value;
      else node.setAttribute(name, value);
    }
    node.append(...[content].flat().filter((part) => part !== null && part !== undefined && part !== ""));
    return node;
  }

  function index(run) {
    if (!indexes.has(run)) indexes.set(run, JSON.parse($(`index-${run}`).textContent));
    return indexes.get(run);
  }

  async function unpack(run, position) {
    const key = `${run}/${position}`;
    if (!unpacked.has(key)) {
      const bytes = Uint8Array.from(atob($(`island-${run}-${position}`).textContent), (letter) => letter.charCodeAt(0));
      const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
      unpacked.set(key, JSON.parse(await new Response(stream).text()));
    }
    return unpacked.get(key);
  }

  // The list of chains.

  function share(cell) {
    return cell && cell[1] ? cell[0] / cell[1] : 2;
  }

  function heatCell(cell, round) {
    if (!cell || !cell[1]) return make("td");
    const kept = round > 0 && !cell[2];
    const words = `round ${round}: ${cell[0]} of ${cell[1]} right${kept ? ", task kept" : ""}`;
    return make("td", (kept ? "=" : "") + cell[0], { class: `h${Math.floor(4 * share(cell))}`, title: words });
  }

  function order(rows) {
    const last = (row) => share(row.cells[row.cells.length - 1]);
    const how = $("choose-order").value;
    if (how === "hard") rows.sort((one, other) => last(one) - last(other));
    if (how === "easy") rows.sort((one, other) => last(other) - last(one));
    return rows;
  }

  function visible() {
    const domain = $("choose-domain").value;
    const rows = index(state.run).chains.map(([chain, kind, cells], position) => ({ chain, kind, cells, position }));
    const kept = (row) => (!domain || row.kind === domain) && (!state.hits || state.hits.has(row.position));
    return order(rows.filter(kept));
  }

  function list() {
    const { rounds } = index(state.run);
    const rows = visible();
    const heads = rounds.map((round) => make("th", `${round}`, { scope: "col" }));
    $("heat").tHead.replaceChildren(make("tr", [make("th", "Chain", { scope: "col" }), ...heads]));
    $("heat").tBodies[0].replaceChildren(...rows.map((row) => {
      const button = make("button", row.chain, { type: "button", title: `${row.chain}, ${row.kind}` });
      button.addEventListener("click", () => { location.hash = address(row.chain); });
      const head = make("th", button, { scope: "row" });
      const line = make("tr", [head, ...row.cells.map((cell, at) => heatCell(cell, rounds[at]))]);
      line.dataset.position = row.position;
      line.classList.toggle("open", row.position === state.open);
      return line;
    }));
    const all = index(state.run).chains.length;
    $("count").textContent = rows.length === all ? `${all} chains` : `${rows.length} of ${all} chains`;
  }

  async function find() {
    const wanted = $("choose-text").value.trim().toLowerCase();
    const { chains } = index(state.run);
    if (!wanted) {
      state.hits = null;
    } else {
      const run = state.run;
      const hits = new Set();
      for (let position = 0; position < chains.length; position += 1) {
        const named = chains[position][0].toLowerCase().includes(wanted);
        const { rounds } = await unpack(run, position);
        if (named || rounds.some((round) => round.question?.toLowerCase().includes(wanted))) hits.add(position);
      }
      if (run !== state.run || wanted !== $("choose-text").value.trim().toLowerCase()) return;
      state.hits = hits;
    }
    list();
  }

  // One chain.

  function folded(title, content) {
    return make("details", [make("summary", title), ...[content].flat()]);
  }

  function plain(text) {
    return make("pre", text, { class: "text" });
  }

  // The question, with what is neither at the beginning nor at the end of the one before marked as new.
  function compared(question, before) {
    if (!before) return make("p", question, { class: "text" });
    let start = 0;
    while (start < before.length && start < question.length && before[start] === question[start]) start += 1;
    let tail = 0;
    const most = Math.min(before.length, question.length) - start;
    while (tail < most && before[before.length - 1 - tail] === question[question.length - 1 - tail]) tail += 1;
    const end = question.length - tail;
    return make("p", [question.slice(0, start), make("mark", question.slice(start, end)), question.slice(end)], { class: "text" });
  }

  function answer(round) {
    const facts = [round.type.replace("_", " ")];
    if (round.unit) facts.push(`in ${round.unit}`);
    for (const name of ["tolerance", "choices", "aliases"]) if (round[name]) facts.push(`${name} ${JSON.stringify(round[name])}`);
    const about = make("span", ` (${facts.join(", ")})`, { class: "quiet" });
    if (round.answer.includes("\n")) return [];
    return make("p", [make("b", "Answer "), make("code", round.answer), about]);
  }

  function vote(found, number) {
    const who = make("b", `Verifier ${number + 1}, ${found.model}: `);
    if (found.unparsed !== undefined) return make("li", [who, "no usable reply", plain(found.unparsed)]);
    const posed = found.well_posed ? "well posed" : "not well posed";
    const parts = [who, posed, found.answer ? ", answers " : ", gives no answer of its own", found.answer && make("code", found.answer)];
    for (const problem of found.problems) parts.push(make("div", `problem: ${problem}`));
    if (found.reasoning) parts.push(folded("reasoning", plain(found.reasoning)));
    return make("li", parts);
  }

  function verdicts(round) {
    return (round.verdicts ?? []).map((verdict) => {
      const passed = verdict.votes.filter((found) => found.well_posed).length;
      const parts = [make("ul", verdict.votes.map(vote))];
      if (verdict.own) parts.push(make("p", "The generating model’s own attempt:"), plain(verdict.own));
      return folded(`Verdicts at step ${verdict.step}: ${passed} of ${verdict.votes.length} well posed`, parts);
    });
  }

  function making(round) {
    if (!round.steps) return null;
    const steps = round.steps.map((step) => {
      const skills = step.skills.length ? ` with ${step.skills.join(", ")}` : "";
      return make("li", [make("b", step.action + skills), `: ${step.outcome}`], { value: step.step });
    });
    return folded(`How it was made: ${steps.length} step${steps.length === 1 ? "" : "s"}`, make("ol", steps));
  }

  function attempts(round) {
    if (!round.attempts) return null;
    const known = { 0: "wrong", [round.n]: "right" }[round.correct] ?? null;
    const texts = round.attempts.flatMap((attempt, number) => {
      const words = [`Attempt ${number + 1}`, attempt.cut ? "cut at the token limit" : known].filter(Boolean);
      return [make("p", words.join(", "), { class: "quiet" }), plain(attempt.text)];
    });
    if (!known) texts.unshift(make("p", "Which of them were right, the run does not record.", { class: "quiet" }));
    return folded(`Attempts: ${round.correct} of ${round.n} right`, texts);
  }

  function learnt(round) {
    const parts = [];
    if (round.admitted?.length) parts.push(make("p", [make("b", "Skills learnt from it "), round.admitted.join(", ")]));
    for (const [name, reason] of Object.entries(round.refused ?? {})) parts.push(make("p", `Skill refused: ${name} (${reason})`, { class: "quiet" }));
    return parts;
  }

  function counted(round) {
    if (round.n === undefined) return "not measured";
    const extra = ["truncated", "unparsed", "unknown"].filter((name) => round[name]);
    const words = extra.map((name) => `${round[name]} ${name === "unknown" ? "undecided" : name}`);
    return [`${round.correct} of ${round.n} right`, ...words].join(", ");
  }

  function task(round, before) {
    const kind = round.round === 0 ? "seed" : round.new ? "new task" : "no valid new task, the one before is kept";
    const parts = [make("h4", [`Round ${round.round}: ${kind} `, make("small", counted(round))])];
    const more = [making(round), ...verdicts(round), attempts(round)];
    if (round.new) {
      parts.push(compared(round.question, before), answer(round));
      if (round.skills.length) parts.push(make("p", [make("b", "Skills used "), round.skills.join(", ")]));
      if (round.certificate) parts.push(make("p", [make("b", "Certificate "), round.certificate]));
      const texts = { solution: "Solution", program: "Program", tests: "Tests" };
      more.unshift(...Object.keys(texts).filter((name) => round[name]).map((name) => folded(texts[name], plain(round[name]))));
      if (round.answer.includes("\n")) more.unshift(folded(`Answer (${round.type.replace("_", " ")})`, plain(round.answer)));
    } else if (round.problems?.length || round.cause) {
      const why = [round.cause?.replace("_", " "), ...(round.problems ?? [])].filter(Boolean).join("; ");
      parts.push(make("p", [make("b", "Why "), why]));
    }
    parts.push(...learnt(round), make("div", more, { class: "more" }));
    return make("section", parts.flat(), { class: "task" });
  }

  function step(position, by, word) {
    const rows = visible();
    const next = rows[rows.findIndex((row) => row.position === position) + by];
    const button = make("button", word, { type: "button" });
    if (next) button.addEventListener("click", () => { location.hash = address(next.chain); });
    else button.disabled = true;
    return button;
  }

  function back(position) {
    const button = make("button", "Back to the list", { type: "button" });
    button.addEventListener("click", () => {
      const line = document.querySelector(`#heat tr[data-position="${position}"] button`);
      (line ?? $("choose-text")).focus();
    });
    return button;
  }

  async function show(position) {
    const record = await unpack(state.run, position);
    state.open = position;
    let before = null;
    const tasks = record.rounds.map((round) => {
      const shown = task(round, before);
      before = round.question ?? before;
      return shown;
    });
    const title = make("h3", [record.chain, " ", make("small", `${record.domain} · ${record.source} · ${record.license}`)], { tabindex: "-1" });
    const bar = make("div", [back(position), step(position, -1, "Previous"), step(position, 1, "Next")], { class: "bar" });
    $("chain").replaceChildren(title, bar, ...tasks);
    $("chain").scrollTop = 0;
    for (const line of $("heat").tBodies[0].rows) line.classList.toggle("open", Number(line.dataset.position) === position);
    title.focus({ preventScroll: true });
    $("chain").scrollIntoView({ block: "nearest" });
  }

  // Addresses: #lineage/<run>/<chain>, and #harness-<run>-<round> opens its chapter.

  function address(chain) {
    return `lineage/${state.run}/${encodeURIComponent(chain)}`;
  }

  function choose(run) {
    state.run = run;
    state.open = state.hits = null;
    $("choose-run").value = `${run}`;
    list();
  }

  function follow() {
    const hash = location.hash.slice(1);
    const found = /^lineage\/(\d+)\/(.+)$/.exec(hash);
    if (found && $(`index-${found[1]}`)) {
      const wanted = decodeURIComponent(found[2]);
      if (Number(found[1]) !== state.run) choose(Number(found[1]));
      const position = index(state.run).chains.findIndex(([chain]) => chain === wanted);
      if (position >= 0) show(position);
      return;
    }
    const target = hash && $(hash);
    if (target?.tagName === "DETAILS") {
      target.open = true;
      target.querySelector("summary").focus({ preventScroll: true });
      target.scrollIntoView();
    }
  }

  for (const id of ["choose", "count", "split"]) $(id).hidden = false;
  if (!window.DecompressionStream) $("chain").textContent = "This browser cannot unpack a lineage: any that is younger than 2023 can.";
  $("choose").addEventListener("submit", (event) => event.preventDefault());
  $("choose-run").addEventListener("change", () => { choose(Number($("choose-run").value)); find(); });
  $("choose-domain").addEventListener("change", list);
  $("choose-order").addEventListener("change", list);
  $("choose-text").addEventListener("input", find);
  window.addEventListener("hashchange", follow);
  list();
  follow();
})();
