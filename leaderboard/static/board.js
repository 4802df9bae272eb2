// The board in the browser: order, search, filters, columns, pins, rules and pages over one file of columns, loaded when
// first needed. Without it every control is a link or a form that the server answers in the same way (leaderboard/board/query.py).
(() => {
  "use strict";
  const PAGE = 100, AT_ONCE = 30;
  const TEXTS = ["version", "source", "note", "about"];  // searched, and no columns; columns come with the rows
  const SHARES = new Set();
  let VALUES = [], HEADLINE = "", POOLED = "", PREFIX = "";  // the scores of the benchmark, the headline first: known from the page
  // Sentences in the language of the page: leaderboard/board/script_texts.py lists them. English is written here.
  let SENTENCES = {};
  const tr = (text, values = {}) => (SENTENCES[text] ?? text).replace(/\{(\w+)(?::,)?\}/g, (_, name) => values[name]);

  const TIERS = ["scored", "reported", "baseline"];
  const MOST_PINS = 20, MOST_COMPARED = 5;
  const MARKED = { keepPage: true, step: false };  // pins, ticks and columns change the address of a view, not the view
  // What the address holds, in its order; filters, columns and pins follow when the state is known.
  const USUAL = { q: "", tier: "all", protocol: "", grouping: "", revision: "", as_of: "", baselines: "", unstated: "",
    embed: "" };
  const number = new Intl.NumberFormat("en-US"), amount = new Intl.NumberFormat("en-US", { maximumFractionDigits: 2 });

  // Shares come in units of 0.001 percent and are rounded half up to tenths: the server does the same to the same integers.
  const tenths = (units) => Math.floor((units + 50) / 100);
  const shown = (value) => `${Math.floor(value / 10)}.${value % 10}`;
  const axis = (value) => `${Math.min(Math.max(Math.floor((value - 200) * 10 / 8), 0), 1000) / 10}%`;

  // After the next frame; in a tab that nobody sees there are none.
  const frame = () => new Promise((done) => {
    requestAnimationFrame(() => setTimeout(done));
    setTimeout(done, 100);
  });

  function element(name, attributes, ...children) {
    const svg = ["svg", "line", "circle", "path", "title"].includes(name);
    const made = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
    for (const key in attributes) made.setAttribute(key, attributes[key]);
    made.append(...children.filter((child) => child !== ""));
    return made;
  }

  function unpack(data) {
    for (const key in data) {
      const column = data[key];
      if (column && column.texts) data[key] = column.at.map((at) => column.texts[at]);
    }
    return data;
  }

  function compare(text) {
    const found = /^(<=|>=|<|>|=)?(-?\d+(?:\.\d+)?)(?:\.\.(-?\d+(?:\.\d+)?))?$/.exec(text);
    if (!found) return null;
    const limit = Number(found[2]);
    if (found[3] !== undefined) return (value) => value >= limit && value <= Number(found[3]);
    return { "<": (v) => v < limit, "<=": (v) => v <= limit, ">": (v) => v > limit, ">=": (v) => v >= limit }[found[1]]
      || ((v) => v === limit);
  }

  // Days compare as texts; a month or a year is all of its days.
  function days(text) {
    const found = /^(<=|>=|<|>|=)?(\d{4}(?:-\d\d){0,2})(?:\.\.(\d{4}(?:-\d\d){0,2}))?$/.exec(text);
    if (!found || !(found[1] || found[3])) return null;
    const [, sign, first, last] = found, start = (day) => day.slice(0, first.length);
    if (last !== undefined) return (day) => start(day) >= first && day.slice(0, last.length) <= last;
    return { "<": (day) => day < first, "<=": (day) => start(day) <= first, ">": (day) => start(day) > first,
      ">=": (day) => day >= first, "=": (day) => start(day) === first }[sign];
  }

  function term(data, word) {
    const colon = word.indexOf(":");
    const name = colon > 0 ? word.slice(0, colon) : "";
    const wanted = word.slice(colon + 1);
    if (name === "id") return (i) => wanted.split(",").includes(data.id[i]);
    if (name === "tier") return (i) => TIERS[data.tier[i]].includes(wanted);
    const span = name === "date" ? days(wanted) : null;
    if (span) return (i) => data.date[i] !== "" && span(data.date[i]);
    const [column, kind] = TEXTS.includes(name) ? [name, "text"] : Object.hasOwn(data.terms, name) ? data.terms[name] : [];
    if (kind === "flag") return (i) => ["no", "yes"][data[column][i] ?? 2]?.includes(wanted) ?? wanted === "";
    if (kind === "text") return (i) => searched(data, column, i).toLowerCase().includes(wanted);
    const test = kind === "number" ? compare(wanted) : null;
    if (test) {
      const read = SHARES.has(column) ? (value) => tenths(value) / 10 : (value) => value;
      return (i) => data[column][i] !== null && test(read(data[column][i]));
    }
    return (i) => haystack(data)[i].includes(word);
  }

  // What the service itself says of a row is searched in every language, whichever the page shows.
  const searched = (data, column, i) => data[`words:${column}`]?.[i] || data[column][i];

  function haystack(data) {
    return data.words ??= data.id.map((_, i) => ["model", "version", "organisation", "source", "base_model", "judge_type"]
      .map((column) => searched(data, column, i)).join(" ").toLowerCase());
  }

  function words(text) {
    const lower = text.toLowerCase();
    if ((lower.split('"').length - 1) % 2) return lower.replaceAll('"', " ").split(/\s+/).filter(Boolean);
    return (lower.match(/(?:[^\s"]|"[^"]*")+/g) || []).map((word) => word.replaceAll('"', "")).filter(Boolean);
  }

  const asked = (state) => [...state.filters.filter(([key]) => state[key]).map(([key, start]) => start + state[key]), ...words(state.q)];

  // What submitters may leave out (state.stated has a word for each such column): the column that a word asks for.
  function askedColumn(data, state, word) {
    const colon = word.indexOf(":"), [column, kind] = colon > 0 && data.terms[word.slice(0, colon)] || [];
    if (!Object.hasOwn(state.stated, column)) return null;
    return kind === "number" && !compare(word.slice(colon + 1)) ? null : column;
  }
  const isUnstated = (data, column, i) => data[column][i] === null || data[column][i] === "";

  function wordTest(data, state, word, unstated) {
    const test = term(data, word), column = unstated ? askedColumn(data, state, word) : null;
    return column ? (i) => test(i) || isUnstated(data, column, i) : test;
  }

  // Why a word is no question about a field; as leaderboard/board/hints.py.
  function misread(data, word) {
    const [, name, wanted] = /^([a-z_]+):(.*)$/s.exec(word) || [];
    if (!name) return "";
    if (!data.fields.split(", ").includes(name)) return tr("There is no field {name}. Fields: {fields}.", { name, fields: data.fields });
    const numeric = data.terms[name]?.[1] === "number";
    if (numeric && !compare(wanted)) return tr("The field {name} takes a number, such as {name}:>5.", { name });
    const known = data.values[name] ?? [wanted];
    if (known.some((one) => one.includes(wanted))) return "";
    return tr("The field {name} has no value {wanted}. Values: {known}.", { name, wanted, known: known.join(", ") });
  }

  function hints(data, state) {
    const found = [...new Set(words(state.q))].map((word) => [word, misread(data, word)])
      .filter(([word, text]) => text && !haystack(data).some((row) => row.includes(word))).slice(0, 3)
      .map(([, text]) => element("p", {}, text));
    const columns = asked(state).map((word) => askedColumn(data, state, word)).filter(Boolean);
    if (!columns.length) return found;
    const strict = choose(data, { ...state, unstated: "" }), kept = new Set(strict.rows);
    const rows = choose(data, { ...state, unstated: "1" }).rows.filter((i) => data.tier[i] === 0 && !kept.has(i));
    if (!rows.length) return found;
    const names = [...new Set(columns.filter((column) => rows.some((i) => isUnstated(data, column, i)))
      .map((column) => state.stated[column]))];
    const what = [names.slice(0, -1).join(", "), names.at(-1)].filter(Boolean).join(tr(" or "));
    const single = rows.length === 1, values = { n: rows.length, what };
    const text = state.unstated
      ? single ? "{n} scored judge that does not state its {what} is shown:" : "{n} scored judges that do not state their {what} are shown:"
      : single ? "{n} scored judge does not state its {what}:" : "{n} scored judges do not state their {what}:";
    const act = state.unstated ? single ? "hide it" : "hide them" : single ? "show it" : "show them";
    found.push(element("p", {}, `${tr(text, values)} `, element("a", { href: "", "data-unstated": "" }, tr(act))));
    return found;
  }

  function choose(data, state) {
    const tests = asked(state).map((word) => wordTest(data, state, word, state.unstated));
    if (state.tier !== "all") tests.push((i) => TIERS[data.tier[i]] === state.tier);
    if (state.baselines) tests.push((i) => data.tier[i] !== 2);
    const pins = new Set(list(state.pin)), found = { pinned: [], rows: [] };
    for (let i = 0; i < data.id.length; i++) {
      if (pins.size && pins.has(data.id[i])) found.pinned.push(i);
      else if (tests.every((test) => test(i))) found.rows.push(i);
    }
    return found;
  }

  const list = (text) => text.split(",").filter(Boolean);

  // Ranks and ranges follow the accuracy that orders, or else the headline. Filtering does not change them.
  const rankedBy = (state) => (VALUES.includes(state.sort) ? state.sort : HEADLINE);

  function standings(data, sort) {
    const key = rankedBy({ sort });
    data.standings ??= {};
    return data.standings[key] ??= { ranks: key === HEADLINE ? data.rank : sharedRanks(data, key), tested: tested(data, key) };
  }

  function sharedRanks(data, key) {
    const values = data[key], ranks = values.map(() => null);
    const known = [...values.keys()].filter((i) => data.rank[i] !== null && values[i] !== null);
    known.sort((a, b) => values[b] - values[a]);
    known.forEach((i, at) => { ranks[i] = at && values[i] === values[known[at - 1]] ? ranks[known[at - 1]] : at + 1; });
    return ranks;
  }

  function tested(data, key) {
    const { at = [], best, worst, band } = data.ranges[key] || {};
    return new Map(at.map((i, n) => [i, { range: best[n] < worst[n] ? `${best[n]}–${worst[n]}` : "", band: band[n] }]));
  }

  // Classes that draw the bands over rows in this order. A row that was not tested interrupts none.
  function bandClasses(rows, standing, state) {
    const result = new Map();
    if (!VALUES.includes(state.sort) && state.sort !== "rank") return result;
    const bands = rows.map((i) => standing.tested.get(i)?.band ?? null);
    const nearest = (some) => {
      let last = null;
      return some.map((band) => { const before = last; last = band ?? last; return before; });
    };
    const above = nearest(bands), below = nearest([...bands].reverse()).reverse();
    rows.forEach((i, n) => {
      if (bands[n]) result.set(i, ["band", ...above[n] !== bands[n] ? ["begins"] : [], ...below[n] !== bands[n] ? ["ends"] : []]);
      else if (bands[n] === null && above[n] && above[n] === below[n]) result.set(i, ["within"]);
    });
    return result;
  }

  // In the order of a score, what leads nothing is last.
  function order(data, found, state) {
    if (state.sort === HEADLINE && state.dir === "desc") return found;
    if (!VALUES.includes(state.sort)) return byColumn(data, found, state);
    const unled = new Set(data.unled.rows), leading = found.filter((i) => !unled.has(i));
    return byColumn(data, leading, state).concat(byColumn(data, found.filter((i) => unled.has(i)), state));
  }

  // Display order is the order of the file, so equals stay where they are. Nulls and empty texts stand last, always.
  function byColumn(data, found, state) {
    const column = data[state.sort];
    const missing = (i) => column[i] === null || column[i] === "";
    const keys = typeof column.find((value) => value !== null) === "string" ? column.map((v) => v.toLowerCase()) : column;
    const sign = state.dir === "desc" ? -1 : 1;
    const known = found.filter((i) => !missing(i));
    known.sort((a, b) => (keys[a] < keys[b] ? -sign : keys[a] > keys[b] ? sign : a - b));
    return known.concat(found.filter(missing));
  }

  // Sections: scored here, then reported, of each judge the report that leads; baselines stand below every page.
  function sections(data, found, state) {
    const rows = order(data, found.rows, state), of = (tier) => rows.filter((i) => data.tier[i] === tier);
    const reported = of(1), asked = new Set(reported), others = new Map(), folded = new Set();
    for (const same of data.reports.groups) {
      const [first, ...rest] = same.filter((i) => asked.has(i));
      if (rest.length) others.set(first, rest);
      for (const i of rest) folded.add(i);
    }
    return { pinned: order(data, found.pinned, state), baselines: of(2), others,
      rows: [...of(0), ...reported.filter((i) => !folded.has(i))] };
  }

  function drawn(data, key, i) {
    if (data[key][i] === null) return [];
    const value = tenths(data[key][i]);
    const below = data[`${key}-`][i];
    const svg = element("svg", { class: "ci", role: "img" });
    if (below === null) svg.append(element("title", {}, shown(value)));
    else {
      const low = value - below, high = value + data[`${key}+`][i];
      svg.append(element("title", {}, tr("95% interval {low}–{high}", { low: shown(low), high: shown(high) })),
        element("line", { x1: axis(low), x2: axis(high), y1: "8", y2: "8" }));
    }
    svg.append(value < 200 ? element("path", { d: "M0 8l6-4v8z" })
      : element("circle", { cx: axis(value), cy: "8", r: "3" }));
    return [element("b", {}, shown(value)), svg];
  }

  function cell(data, key, i) {
    const value = data[key][i];
    if (value === null) return "";
    if (SHARES.has(key)) return shown(tenths(value));
    return data.shown[key]?.[value] ?? String(value);
  }

  // Names: see leaderboard/board/names.py.
  const LONGEST = 56, HEAD = 34, TAIL = 18, MONOGRAM_COLOURS = 8;
  const ownerOf = (model) => (/^[\p{L}\p{N}_.-]+\/[\p{L}\p{N}_.-]+$/u.test(model) ? model.split("/")[0] : "");
  const shortName = (model) => (ownerOf(model) ? model.slice(ownerOf(model).length + 1) : model);
  const breakable = (text) => text.split(/(?<=[_/-])(?=.)/s).flatMap((part, n) => (n ? [element("wbr", {}), part] : [part]));

  function nameParts(model) {
    const owner = ownerOf(model), name = [...shortName(model)];
    const hidden = owner ? [element("span", { class: "sr" }, `${owner}/`)] : [];
    if (name.length <= LONGEST) return [...hidden, ...breakable(name.join(""))];
    return [...hidden, ...breakable(name.slice(0, HEAD).join("")),
      element("span", { class: "cut" }, name.slice(HEAD, -TAIL).join("")), ...breakable(name.slice(-TAIL).join(""))];
  }

  function badge(organisation) {
    const words = organisation.match(/[\p{L}\p{N}]+/gu) || [];
    if (!words.length) return [];
    const letters = words.length === 1 ? [...words[0]].slice(0, 2) : words.slice(0, 2).map((word) => [...word][0]);
    const colour = [...organisation].reduce((sum, one) => sum + one.codePointAt(0), 0) % MONOGRAM_COLOURS;
    return [element("span", { class: `org c${colour}`, "aria-hidden": "true", title: organisation }, letters.join("").toUpperCase())];
  }

  const entry = (data, i, state) => `${PREFIX}/entries/${data.id[i]}${state.as_of ? `?as_of=${encodeURIComponent(state.as_of)}` : ""}`;

  function judge(data, i, state, pinned) {
    const name = data.model[i];
    const cell = element("th", { scope: "row" });
    if (data.tier[i] === 2) cell.append(element("bdi", {}, element("i", {}, name)));
    else {
      const title = ownerOf(name) || [...name].length > LONGEST ? { title: name } : {};
      const link = element("a", { href: entry(data, i, state), ...title }, ...nameParts(name));
      cell.append(...badge(data.organisation[i] || ownerOf(name)), element("bdi", {}, link));
    }
    const from = (data.tier[i] ? [data.source[i]] : [data.version[i], data.about[i], data.organisation[i]])
      .filter(Boolean).join(" · ");
    const note = data.note[i];
    if (from || note) {
      cell.append(element("small", {}, from && element("span", {}, from), note && element("em", {}, note)));
    }
    const [word, label] = pinned ? ["unpin", "unpin {model}"] : ["pin", "pin {model}"];
    cell.append(element("button", { form: "pin", name: "pin", value: data.id[i], class: "pin",
      "aria-label": tr(label, { model: name }) }, tr(word)));
    return cell;
  }

  function report(others, unfolded, made) {
    const rows = others.map((i) => made(i));
    for (const other of rows) other.classList.add("other");
    const text = others.length === 1 ? "{n} other report" : "{n} other reports";
    const fold = element("details", { class: "others", ...unfolded ? { open: "" } : {} },
      element("summary", {}, tr(text, { n: others.length })));
    return { rows, fold };
  }

  // A cell of a column that the metadata declares.
  function stated(data, key, kind, i) {
    const value = data[key][i], right = kind === "number";
    const text = value === null ? "" : right ? amount.format(value) : String(value);
    return element("td", { class: `plain stated ${key}${right ? " n" : ""}` }, text);
  }

  function row(data, i, columns, standing, state, pinned) {
    const at = standing.tested.get(i);
    return element("tr", { class: TIERS[data.tier[i]] }, ...columns.map(([key, kind, , , declared]) => {
      if (declared) return stated(data, key, kind, i);
      if (kind === "judge") return judge(data, i, state, pinned);
      if (kind === "interval") {
        return element("td", { class: `num ${key === POOLED ? "headline" : key}` }, ...drawn(data, key, i));
      }
      if (kind !== "rank") {
        const text = cell(data, key, i), title = text && ["base_model", "organisation"].includes(key) ? { title: text } : {};
        return element("td", { class: `${key === POOLED ? "num" : "plain"} ${key}`, ...title }, text);
      }
      const rank = element("td", { class: "rank" });
      if (data.tier[i] !== 2) {
        rank.append(element("button", { form: "pin", name: "compare", value: data.id[i], class: "pick",
          "aria-label": tr("compare {model}", { model: data.model[i] }), "aria-pressed": list(state.compare).includes(data.id[i]) }));
      }
      rank.append(String(standing.ranks[i] ?? ""));
      if (at?.range) rank.append(element("small", {}, at.range));
      if (at?.band) {
        rank.append(element("span", { class: "sr" }, at.band === 1 ? tr("shares first place") : tr("could share rank {rank}", { rank: at.band })));
      }
      return rank;
    }));
  }

  function mount(root) {
    if (root.dataset.mounted !== undefined) return;
    root.dataset.mounted = "";
    const state = JSON.parse(root.dataset.state);
    SENTENCES = state.texts || {};
    [VALUES, HEADLINE, POOLED, PREFIX] = [state.values, state.values[0], state.pooled, state.prefix];
    for (const name of VALUES) SHARES.add(name);
    for (const [key, kind] of state.columns) if (kind === "share") SHARES.add(key);
    [USUAL.protocol, USUAL.grouping] = state.usual;
    const columns = new Map(state.columns.map(([key, kind, first]) => [key, { kind, first }]));
    const filters = state.filters.map(([key]) => key);
    const usual = { ...USUAL, ...Object.fromEntries(filters.map((key) => [key, ""])), cols: "", pin: "", compare: "" };
    const form = root.querySelector("form.bar"), body = root.querySelector("tbody:not(.pinned)");
    const elsewhere = root.querySelector(".elsewhere");
    const visible = () => {
      const chosen = list(state.cols);
      return state.columns.filter(([key, , , always]) => (chosen.length ? chosen.includes(key) : always));
    };
    const count = root.querySelector("[data-count]");
    const one = (selector) => root.querySelector(selector);
    const files = new Map();
    let asked = 0;

    function load() {
      const query = new URLSearchParams({ protocol: state.protocol, grouping: state.grouping, revision: state.revision });
      if (state.as_of) query.set("as_of", state.as_of);
      const address = `${PREFIX}/board.json?${query}`;
      if (!files.has(address)) {
        const file = fetch(address).then((reply) => {
          if (!reply.ok) throw new Error(`${reply.status}`);
          return reply.json();
        }).then(unpack);
        file.catch(() => files.delete(address));
        files.set(address, file);
      }
      return files.get(address);
    }

    function address(extra) {
      const view = { ...state, ...extra }, query = new URLSearchParams(embedded ? location.search : "");
      for (const key of [...Object.keys(usual), "sort", "dir", "page"]) query.delete(key);
      for (const key in usual) if (view[key] !== usual[key]) query.set(key, view[key]);
      if (view.sort !== HEADLINE || view.dir !== "desc") { query.set("sort", view.sort); query.set("dir", view.dir); }
      if (view.page > 1) query.set("page", view.page);
      const text = query.toString().replaceAll("%2C", ",");
      return location.pathname + (text ? `?${text}` : "") + location.hash;
    }
    const embedded = root.dataset.embedded !== undefined;
    // What a link sets of the filters about weights and size.
    const preset = (link) => ({ open: "", min_size: "", max_size: "", ...Object.fromEntries(new URLSearchParams(link.dataset.preset)) });
    let opened = "";  // the markup above the table that is drawn
    let drawnAt = address({});  // the address of the view that is drawn

    // The view that an address asks for.
    function viewOf(query) {
      const view = { ...usual, sort: HEADLINE, dir: "desc", page: Math.max(1, Number.parseInt(query.get("page"), 10) || 1) };
      for (const key in usual) if (query.has(key)) view[key] = query.get(key);
      if (columns.has(query.get("sort"))) {
        view.sort = query.get("sort");
        view.dir = ["asc", "desc"].includes(query.get("dir")) ? query.get("dir") : columns.get(view.sort).first;
      }
      return view;
    }

    function restore(view) {
      form.elements.q.value = view.q;
      return apply(view, MARKED);
    }

    // A view that a visitor chose is a step that Back undoes. The address before it is written as the script reads it.
    function remember(step) {
      const before = drawnAt;
      drawnAt = address({});
      if (!step || drawnAt === before) return history.replaceState(history.state, "", drawnAt);
      history.replaceState(history.state, "", before);
      return history.pushState(history.state, "", drawnAt);
    }

    function controls(data, found, first, rows) {
      heads(data);
      for (const link of root.querySelectorAll("[data-tier]")) {
        if (link.dataset.tier === state.tier) link.setAttribute("aria-current", "true");
        else link.removeAttribute("aria-current");
        link.href = address({ tier: link.dataset.tier, page: 1 });
      }
      for (const link of root.querySelectorAll("[data-by]")) {
        if (link.dataset.by === rankedBy(state)) link.setAttribute("aria-current", "true");
        else link.removeAttribute("aria-current");
        link.href = address({ sort: link.dataset.by, dir: "desc", page: 1 });
      }
      for (const link of root.querySelectorAll("[data-preset]")) {
        const wanted = preset(link);
        if (Object.keys(wanted).every((key) => wanted[key] === state[key])) link.setAttribute("aria-current", "true");
        else link.removeAttribute("aria-current");
        link.href = address({ ...wanted, unstated: "", page: 1 });
      }
      one("[data-scoring]").textContent = data.scoring;
      for (const cell of root.querySelectorAll("[data-size]")) cell.textContent = number.format(data.sizes[POOLED]);
      for (const cell of root.querySelectorAll("[data-revision]")) cell.textContent = data.revision;
      open(data).catch(() => {});
      const rules = { protocol: state.protocol, grouping: state.grouping };
      for (const key of ["revision", "as_of"]) if (state[key]) rules[key] = state[key];
      one("[data-json]").href = `${PREFIX}/api/v1/leaderboard?${new URLSearchParams(rules)}`;
      const search = (extra) => new URL(address({ page: 1, ...extra }), location).search;
      const taken = search({ ...state.compare ? ticked() : {}, embed: "" });
      for (const link of root.querySelectorAll("[data-export]")) link.href = link.pathname + taken;
      one("[data-embed]").href = `${PREFIX}/${search({ embed: "1" })}`;
      one("[data-permalink]").href = address({ as_of: data.snapshot.slice(0, 16), embed: "" }).replace(location.pathname, `${PREFIX}/`);
      one("[data-filters]").textContent = [...filters, "baselines"].filter((key) => state[key]).length || "";
      for (const option of form.elements.sort.options) option.selected = option.value.split(":")[0] === state.sort;
      const held = { ...state, revision: data.revision }, shows = new Set(visible().map(([key]) => key));
      for (const name of ["protocol", "grouping", "revision", "baselines", ...filters]) {
        if (form.elements[name]) form.elements[name].value = held[name];
      }
      for (const box of root.querySelectorAll("[name=cols]")) box.checked = shows.has(box.value);
      count.textContent = counted(data, found, first, rows);
      const hintLine = one("[data-hints]");
      hintLine.replaceChildren(...hints(data, state));
      for (const link of hintLine.querySelectorAll("a")) link.href = address({ unstated: state.unstated ? "" : "1", page: 1 });
      picked(data);
      for (const [step, shows] of [[-1, state.page > 1], [1, first + rows < found.rows.length]]) {
        const link = one(`[data-page="${step}"]`);
        link.hidden = !shows;
        link.href = address({ page: state.page + step });
      }
      const empty = one(".empty");
      empty.hidden = found.rows.length + found.baselines.length > 0;
      if (!empty.hidden && data.id.length) {
        empty.replaceChildren(`${tr("No judge matches this search.")} `, element("a", { href: location.pathname, "data-reset": "" }, tr("Show all")));
      }
    }

    const ticked = () => ({ tier: "all", pin: "", baselines: "", unstated: "", page: 1, q: `id:${state.compare}`,
      ...Object.fromEntries(filters.map((key) => [key, ""])) });

    function picked(data) {
      const chosen = list(state.compare), query = new URLSearchParams({ entries: state.compare });
      if (VALUES.includes(state.sort) && state.sort !== HEADLINE) query.set("by", state.sort);
      if (state.grouping !== "official") query.set("grouping", state.grouping);
      for (const key of ["revision", "as_of"]) if (state[key]) query.set(key, state[key]);
      const link = one("[data-compare]");
      link.href = `${PREFIX}/compare?${query.toString().replaceAll("%2C", ",")}`;
      link.textContent = chosen.length > 1 ? tr("Compare {n}", { n: chosen.length }) : tr("Compare with others");
      const names = chosen.map((id) => data.model[data.id.indexOf(id)]).filter((name) => name !== undefined);
      one("[data-names]").textContent = names.join(", ");
      one("[data-only]").href = address(ticked());
      one("[data-unpick]").href = address({ compare: "" });
      one("[data-picked]").hidden = !chosen.length;
    }

    // The sentence about who is first follows the view; the server tests it. While somebody types it waits.
    async function open(data) {
      const mine = asked, usualView = !state.q && !filters.some((key) => state[key]) && state.tier === "all" && rankedBy(state) === HEADLINE;
      let markup = data.opening;
      if (!usualView) {
        const query = new URL(address({ page: 1, pin: "", compare: "", cols: "", embed: "" }), location).search;
        await new Promise((done) => setTimeout(done, 200));
        if (mine !== asked) return;
        const reply = await fetch(`${PREFIX}/opening${query}`);
        if (!reply.ok) return;
        markup = await reply.text();
      }
      if (mine === asked && opened !== markup) one("[data-opening]").innerHTML = opened = markup;
    }

    function heads(data) {
      const shows = new Set(visible().map(([key]) => key));
      one(".frame").className = `frame by-${state.sort}${state.cols ? " chosen" : ""}`;
      for (const th of root.querySelectorAll("[data-head]")) th.hidden = !shows.has(th.dataset.head);
      for (const th of root.querySelectorAll(".ranked thead th")) {
        const key = th.querySelector("button").dataset.sort;
        th.hidden = !shows.has(key);
        if (key === state.sort) th.setAttribute("aria-sort", state.dir === "desc" ? "descending" : "ascending");
        else th.removeAttribute("aria-sort");
      }
      for (const cell of root.querySelectorAll("[data-n]")) {
        const n = data.sizes[cell.dataset.n];
        cell.textContent = n ? `n ${number.format(n)}` : "";
      }
      for (const part of root.querySelectorAll("[data-ranges]")) part.hidden = !standings(data, state.sort).tested.size;
    }

    function counted(data, found, first, rows) {
      const total = found.rows.length, baselines = found.baselines.length;
      const named = (n, one, many) => tr(n === 1 ? one : many, { n: number.format(n) });
      const judges = named(total, "{n:,} judge", "{n:,} judges");
      const span = `${number.format(first + 1)}–${number.format(first + rows)}`;
      return [total > PAGE ? tr("{span} of {judges}", { span, judges }) : judges,
        baselines ? named(baselines, "{n:,} baseline", "{n:,} baselines") : "",
        found.pinned.length ? tr("{n} pinned", { n: found.pinned.length }) : ""].filter(Boolean).join(tr(", "));
    }

    // Rows that can be seen stand there a frame before the others, unless the page would be too short for where it was
    // scrolled to. Pinned rows stand in a body of their own above every page; there is none without them.
    async function draw(data, found, first) {
      const standing = standings(data, state.sort), cells = visible();
      const drawing = (pinned) => (i) => row(data, i, cells, standing, state, pinned);
      const rows = found.rows.slice(first, first + PAGE);
      const marks = bandClasses(rows.filter((i) => data.tier[i] === 0), standing, state);
      const scored = (i) => {
        const line = drawing(false)(i);
        line.classList.add(...marks.get(i) || []);
        return line;
      };
      const now = scrollY < innerHeight ? AT_ONCE : PAGE;
      const unfolded = state.q || filters.some((key) => state[key]);
      const judged = (i) => {
        const line = drawing(false)(i), others = found.others.get(i);
        if (!others) return element("tbody", {}, line);
        const other = report(others, unfolded, drawing(false));
        line.querySelector(".pin").before(other.fold);
        return element("tbody", {}, line, ...other.rows);
      };
      const append = (some) => {
        body.append(...some.filter((i) => data.tier[i] === 0).map(scored));
        elsewhere.append(...some.filter((i) => data.tier[i] === 1).map(judged));
      };
      body.replaceChildren();
      for (const before of elsewhere.querySelectorAll("tbody")) before.remove();
      append(rows.slice(0, now));
      root.querySelector("tbody.pinned")?.remove();
      if (found.pinned.length) body.before(element("tbody", { class: "pinned" }, ...found.pinned.map(drawing(true))));
      elsewhere.hidden = !rows.some((i) => data.tier[i] === 1);
      one(".baselines tbody").replaceChildren(...found.baselines.map(drawing(false)));
      one(".references").hidden = !found.baselines.length;
      if (state.tier === "baseline") one(".references").open = true;
      const by = rankedBy(state), known = found.baselines.filter((i) => data[by][i] !== null);
      one("[data-references]").textContent = known.map((i) => `${data.model[i]} ${shown(tenths(data[by][i]))}`).join(" · ");
      one("[data-ranked]").textContent = state.names[by];
      const mine = asked;
      if (rows.length > now) await frame();
      if (mine === asked) append(rows.slice(now));
      return rows.length;
    }

    async function apply(changes, { keepPage = false, step = true } = {}) {
      Object.assign(state, keepPage ? {} : { page: 1 }, changes);
      const mine = ++asked;
      const waiting = setTimeout(() => root.classList.add("busy"), 150);
      try {
        const data = await load();
        if (mine !== asked) return;
        if (data.level !== state.level) {  // other columns: the server draws them
          location.assign(`${PREFIX}/${new URL(address({ sort: HEADLINE, dir: "desc", page: 1 }), location).search}`);
          return;
        }
        const found = sections(data, choose(data, state), state);
        state.page = Math.min(state.page, Math.max(1, Math.ceil(found.rows.length / PAGE)));
        const first = (state.page - 1) * PAGE;
        const drawn = await draw(data, found, first);
        if (mine !== asked) return;
        controls(data, found, first, drawn);
        remember(step);
      } catch {
        if (mine === asked) count.textContent = tr("The rows could not be loaded. Check the connection and try again.");
      } finally {
        clearTimeout(waiting);
        if (mine === asked) root.classList.remove("busy");
      }
    }

    function sortBy(key) {
      const again = key === state.sort;
      return apply({ sort: key, dir: again ? (state.dir === "desc" ? "asc" : "desc") : columns.get(key).first });
    }

    root.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
      const target = event.target.closest("[data-sort],[data-by],[data-tier],[data-preset],[data-unstated],[data-page],[data-reset],[data-unpick],.pin,.pick");
      if (!target) return;
      event.preventDefault();
      const { sort, by, tier, page } = target.dataset;
      if (sort) sortBy(sort);
      else if (by) apply({ sort: by, dir: "desc" });
      else if (target.matches("[data-unstated]")) apply({ unstated: state.unstated ? "" : "1" });
      else if (tier) apply({ tier });
      else if (target.matches("[data-preset]")) apply({ ...preset(target), unstated: "" });
      else if (page) apply({ page: state.page + Number(page) }, { keepPage: true }).then(() => one(".frame").scrollIntoView());
      else if (target.classList.contains("pin")) pin(target.value);
      else if (target.classList.contains("pick")) pick(target.value);
      else if (target.matches("[data-unpick]")) apply({ compare: "" }, MARKED);
      else reset();
    });

    function pin(id) {
      const pins = list(state.pin);
      const after = pins.includes(id) ? pins.filter((one) => one !== id) : [...pins, id].slice(-MOST_PINS);
      // The row moves; whoever pinned it from the keyboard goes with it.
      apply({ pin: after.join(",") }, MARKED).then(() => one(`.pin[value="${CSS.escape(id)}"]`)?.focus());
    }

    function pick(id) {
      const before = list(state.compare);
      const after = before.includes(id) ? before.filter((one) => one !== id) : [...before, id].slice(0, MOST_COMPARED);
      apply({ compare: after.join(",") }, MARKED).then(() => one(`.pick[value="${CSS.escape(id)}"]`)?.focus());
    }

    function reset() {
      const nothing = { q: "", tier: "all", baselines: "", unstated: "", ...Object.fromEntries(filters.map((key) => [key, ""])) };
      form.elements.q.value = "";
      apply(nothing);
    }

    // Menus close with a click elsewhere (and with Escape, see nav.js).
    const menus = () => root.querySelectorAll("details.menu[open]");
    document.addEventListener("pointerdown", (event) => {
      for (const menu of menus()) if (!menu.contains(event.target)) menu.open = false;
    });

    // A pointer on its way to a heading or the search box is reason enough to fetch the rows.
    for (const name of ["pointerover", "focusin"]) {
      root.addEventListener(name, (event) => {
        if (event.target.closest("thead,form.bar,.pager")) load().catch(() => {});
      }, { passive: true });
    }
    let typing = 0;
    form.elements.q.addEventListener("input", () => {
      clearTimeout(typing);
      typing = setTimeout(() => apply({ q: form.elements.q.value.trim().slice(0, 400) }, { step: false }), 60);
    });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      clearTimeout(typing);
      apply({ q: form.elements.q.value.trim() });
    });
    form.addEventListener("change", (event) => {
      const { name, value } = event.target;
      if (name === "sort") {
        const key = value.split(":")[0];
        apply({ sort: key, dir: columns.get(key).first });
      } else if (name === "cols") apply({ cols: columnsChosen() }, MARKED);
      else if (["protocol", "grouping", "revision", "baselines", ...filters].includes(name)) apply({ [name]: value });
    });

    function columnsChosen() {
      const checked = new Set([...root.querySelectorAll("[name=cols]:checked")].map((box) => box.value));
      const chosen = state.columns.filter(([key, kind]) => kind === "rank" || kind === "judge" || checked.has(key));
      return chosen.every((one) => one[3]) && chosen.length === state.columns.filter((one) => one[3]).length
        ? "" : chosen.map(([key]) => key).join(",");
    }

    addEventListener("popstate", () => {
      clearTimeout(typing);
      const view = viewOf(new URLSearchParams(location.search));
      if (address(view) !== address({})) restore(view);  // the same after a jump within the page
    });

    // The server has drawn the view of the address already, except where the board stands on another page, or where
    // the browser has put back what a form held before.
    const query = new URLSearchParams(location.search);
    if (embedded && [...Object.keys(usual), "sort", "page"].some((key) => query.has(key))) restore(viewOf(query));
    else form.reset();
  }

  window.mountBoard = mount;
  const all = () => document.querySelectorAll("[data-board]").forEach(mount);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", all);
  else all();
})();
