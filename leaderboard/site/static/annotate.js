// Verifying labels by hand: one pair at a time, every answer saved as it is given.
// The page holds no label, and neither does anything that it asks for.
"use strict";
(() => {
  const root = document.getElementById("annotate");
  const at = (id) => document.getElementById(id);
  // Sentences in the language of the page: review/annotation.py lists them. English is written here.
  const sentences = JSON.parse(root.dataset.texts || "{}");
  const tr = (text, values = {}) => (sentences[text] ?? text).replace(/\{(\w+)\}/g, (_, name) => values[name]);
  const prefix = root.dataset.prefix;
  const project = `${prefix}/api/v1/verification/${root.dataset.project}`;
  const items = Number(root.dataset.items);
  const closed = "closed" in root.dataset;
  function whyNot(place) {
    if (place >= 1 && place <= items) return tr("This pair has as many answers as it needs. Answer another pair.");
    return tr("There are pairs 1 to {items}.", { items: items.toLocaleString("en") });
  }
  const verdicts = [...root.querySelectorAll("[data-verdict]")];
  const errors = [...root.querySelectorAll("[data-error]")];
  const invert = root.querySelector("[data-invert]");
  const answered = new Set();
  let pair = null; // what the server said about the pair that is shown
  let currentAnswer = null; // {verdict, errors, note}, as shown
  let places = [...Array(items).keys()].map((n) => n + 1); // those that are shown here
  let wanted = 0; // the place that was asked for last
  // What the server does not have yet, place -> answer: kept by the browser, and sent when the line is back.
  const shelf = `annotate ${root.dataset.account} ${project}`;
  const unsaved = new Map(Object.keys(localStorage).filter((key) => key.startsWith(`${shelf} `))
    .map((key) => [Number(key.slice(shelf.length + 1)), JSON.parse(localStorage.getItem(key))]));
  const tabs = new BroadcastChannel(shelf); // other tabs of the same project
  let saving = false;

  function keep(place, answer) {
    unsaved.set(place, answer);
    localStorage.setItem(`${shelf} ${place}`, JSON.stringify(answer));
  }

  // Forget an answer that was sent, unless it was changed meanwhile.
  function drop(place, answer) {
    if (unsaved.get(place) !== answer) return;
    unsaved.delete(place);
    localStorage.removeItem(`${shelf} ${place}`);
  }

  async function ask(method, path, body) {
    const options = { method, headers: { Accept: "application/json" } };
    if (body !== undefined) {
      options.headers["Content-Type"] = "application/json";
      options.body = JSON.stringify(body);
    }
    const reply = await fetch(project + path, options);
    const data = await reply.json().catch(() => ({}));
    if (!reply.ok) {
      throw Object.assign(new Error(data.detail || tr("The server answers {status}.", { status: reply.status })), { status: reply.status });
    }
    return data;
  }

  function complain(text, again) {
    const box = at("problem");
    box.replaceChildren();
    if (!text) return;
    const line = document.createElement("p");
    line.className = "notice late";
    line.append(`${text} `);
    if (again) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = tr("Try again");
      button.addEventListener("click", again);
      line.append(button);
    }
    box.append(line);
  }

  async function show(place) {
    if (!places.includes(place)) {
      complain(whyNot(place));
      return;
    }
    keepNote();
    wanted = place;
    try {
      const found = await ask("GET", `/${place}`);
      if (wanted !== place) return; // somebody is faster than the network
      complain(found.has_enough ? whyNot(place) : "");
      draw(found);
    } catch (error) {
      if (wanted === place) complain(tr("This pair could not be loaded. {reason}", { reason: error.message }), () => show(place));
    }
  }

  function draw(found) {
    pair = found;
    currentAnswer = unsaved.get(pair.place) || found.said || { verdict: "", errors: [], note: "" };
    at("name").textContent = pair.name;
    at("place").textContent = pair.place.toLocaleString("en");
    at("pair").hidden = false;
    at("query").textContent = pair.question
      ?? tr("Question and answer texts are not available on this server.");
    ["first", "second"].forEach((name, index) => {
      at(`text-${name}`).textContent = pair.responses ? pair.responses[index] : "";
    });
    const image = at("image");
    at("enlarge").hidden = !pair.image;
    at("enlarge").setAttribute("aria-pressed", "false");
    at("no-image").hidden = Boolean(pair.image) || pair.question === null; // without texts there is more to say
    image.removeAttribute("src"); // or the image of the pair before stays until this one has come
    if (pair.image) image.src = prefix + pair.image;
    at("note").value = currentAnswer.note;
    if (location.hash !== `#${pair.place}`) history.replaceState(null, "", `#${pair.place}`);
    update();
    scrollTo(0, 0);
  }

  function prefers() {
    return ["first", "second"].includes(currentAnswer.verdict);
  }

  function update() {
    for (const button of verdicts) {
      button.setAttribute("aria-pressed", String(button.dataset.verdict === currentAnswer.verdict));
      button.disabled = closed || pair.has_enough;
    }
    for (const button of errors) {
      button.setAttribute("aria-pressed", String(currentAnswer.errors.includes(button.dataset.error)));
      button.disabled = closed || !prefers();
    }
    invert.disabled = closed || !prefers();
    at("note").disabled = closed || !currentAnswer.verdict;
    at("previous").disabled = pair.place === places[0];
    at("next").disabled = pair.place === places.at(-1);
    at("bar").value = answered.size;
    count();
  }

  function count() {
    const [done, all] = [answered.size.toLocaleString("en"), places.length.toLocaleString("en")];
    at("done").textContent = tr("{done} of {all} answered", { done, all });
  }

  function change(values) {
    if (closed || !pair) return;
    const before = currentAnswer.verdict;
    currentAnswer = { ...currentAnswer, ...values };
    if (!currentAnswer.verdict) return;
    if (currentAnswer.verdict !== before) currentAnswer.errors = []; // they are those of the response that was worse until now
    keep(pair.place, currentAnswer);
    update();
    if (values.verdict && at("advance").checked) goOn();
    save();
  }

  async function save() {
    if (saving) return; // the one that runs takes what came meanwhile with it
    saving = true;
    let refused = false;
    at("saved").textContent = tr("Saving …");
    try {
      while (unsaved.size) {
        const [place, answer] = unsaved.entries().next().value;
        try {
          await ask("PUT", `/${place}`, answer);
        } catch (error) {
          if (error.status !== 409) throw error;
          refused = true;
          drop(place, answer);
          if (pair.place === place) draw(await ask("GET", `/${place}`));
          complain(error.message);
          continue;
        }
        answered.add(place);
        drop(place, answer);
        tabs.postMessage(place);
      }
      at("saved").textContent = tr(refused ? "Not saved" : "Saved");
    } catch (error) {
      at("saved").textContent = tr("Not saved");
      complain(tr("Your answer is not saved. {reason}", { reason: error.message }), sendAgain);
      setTimeout(sendAgain, 10_000);
    } finally {
      saving = false;
      update();
    }
  }

  function sendAgain() {
    if (saving) return;
    if (pair && wanted !== pair.place) show(wanted); // it could not be loaded
    if (!unsaved.size) return;
    complain("");
    save();
  }

  // The next pair without an answer, after this one and then from the beginning.
  function goOn() {
    const here = places.indexOf(pair.place);
    const next = [...places.slice(here + 1), ...places.slice(0, here)].find((place) => !answered.has(place) && !unsaved.has(place));
    if (next) show(next);
  }

  function keepNote() {
    const note = at("note").value.replace(/\s+/g, " ").trim();
    if (pair && currentAnswer.verdict && note !== currentAnswer.note) change({ note });
  }

  for (const button of verdicts) {
    button.addEventListener("click", () => change({ verdict: button.dataset.verdict }));
  }
  for (const button of errors) {
    button.addEventListener("click", () => {
      const name = button.dataset.error;
      const without = currentAnswer.errors.filter((one) => one !== name);
      change({ errors: without.length < currentAnswer.errors.length ? without : [...without, name] });
    });
  }
  invert.addEventListener("click", () => change({ verdict: currentAnswer.verdict === "first" ? "second" : "first" }));
  const step = (by) => show(places[places.indexOf(pair.place) + by]);
  at("previous").addEventListener("click", () => step(-1));
  at("next").addEventListener("click", () => step(1));
  at("note").addEventListener("change", keepNote);
  at("jump").addEventListener("submit", (event) => {
    event.preventDefault();
    const place = Number(at("to").value);
    if (places.includes(place)) {
      at("to").value = "";
      at("to").blur();
    }
    show(place);
  });

  at("enlarge").addEventListener("click", () => {
    const button = at("enlarge");
    button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
  });
  at("advance").checked = localStorage.getItem("annotate advance") === "yes";
  at("advance").addEventListener("change", () => localStorage.setItem("annotate advance", at("advance").checked ? "yes" : "no"));
  addEventListener("online", sendAgain);
  tabs.addEventListener("message", (event) => {
    answered.add(event.data);
    if (!pair) return;
    if (pair.place === event.data && !unsaved.has(event.data)) show(event.data);
    else update();
  });

  const byKey = new Map([...root.querySelectorAll("button[data-key]")].map((button) => [button.dataset.key, button]));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (event.target.matches("input:not([type=checkbox]), textarea, select")) {
      if (event.key === "Escape") event.target.blur();
      if (event.key === "Enter" && event.target.id === "note") event.target.blur();
      return;
    }
    const key = event.key.toLowerCase();
    if (key === "j" || key === "n") {
      event.preventDefault();
      at(key === "j" ? "to" : "note").focus();
      return;
    }
    const button = byKey.get(key);
    if (button && !button.disabled) {
      event.preventDefault();
      button.click();
    }
  });
  addEventListener("beforeunload", (event) => {
    keepNote();
    if (unsaved.size) event.preventDefault();
  });
  addEventListener("hashchange", () => {
    const place = Number(location.hash.slice(1));
    if (place && place !== pair?.place) show(place);
  });

  async function start() {
    try {
      const sheet = await ask("GET", "");
      for (const place of sheet.answered) answered.add(place);
      places = [...sheet.answered, ...sheet.waiting]; // others answer the rest
      if (!places.length) {
        count();
        complain(tr("Every pair of this project has as many answers as it needs."));
        for (const part of root.querySelectorAll(".say, .more")) part.remove();
        return;
      }
      const asked = Number(location.hash.slice(1));
      await show(places.includes(asked) ? asked : sheet.waiting[0] || places[0]);
      if (asked && !places.includes(asked)) show(asked); // says why not
      if (unsaved.size) save();
    } catch (error) {
      complain(tr("The project could not be loaded. {reason}", { reason: error.message }), start);
    }
  }
  start();
})();
