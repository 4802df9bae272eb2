// The board in the browser: what a link or form of the board leads to takes its place. The server draws all of it.
(() => {
  "use strict";
  const KEPT = 300_000; // milliseconds for which an answer is as good as a new one
  const LINKS = "[data-views] a, a[data-views]";
  const FORM = ["bar", "order"];
  const answers = new Map(), orders = new Map(); // address of a view -> when it was asked for, and its parts
  const place = () => location.origin + location.pathname + location.search;
  let shown = place(), asked = 0;

  function part(address, name) {
    const url = new URL(address);
    url.searchParams.set("part", name);
    return fetch(url).then((reply) => (reply.ok ? reply : Promise.reject(reply.status)));
  }

  function answer(address) {
    const kept = (orders.has(shown) && orders.get(address)) || answers.get(address);
    if (kept && performance.now() - kept.at < KEPT) return kept.html;
    const html = part(address, "board").then((reply) => reply.text());
    html.catch(() => answers.delete(address));
    answers.set(address, { at: performance.now(), html });
    return html;
  }

  // Newer requests win. The answer knows the short form of its address. What fits the screen is drawn first.
  async function show(address, { without = [], write = "pushState" } = {}) {
    const turn = ++asked, html = await Promise.resolve(answer(address)).catch(() => null);
    if (turn !== asked) return false;
    document.querySelector("[data-failed]").hidden = html !== null;
    if (html === null) return false;
    const fresh = document.createElement("template"), { id, name, value } = document.activeElement;
    const top = scrollY < 100;
    fresh.innerHTML = html;
    for (const one of fresh.content.querySelectorAll("[data-part]")) {
      if (!one.isConnected && !without.includes(one.id)) document.getElementById(one.id).replaceWith(one);
    }
    const results = document.getElementById("results");
    shown = new URL(results.dataset.view, address).href;
    if (write && shown !== place()) history[write](null, "", shown);
    if (top) {
      results.classList.add("first");
      requestAnimationFrame(() => setTimeout(() => results.classList.remove("first")));
    }
    const again = id ? document.getElementById(id) : name && document.querySelector(`#ranking button[name=${name}][value="${CSS.escape(value)}"]`);
    if (again && again !== document.activeElement) again.focus({ preventScroll: true });
    return true;
  }

  const addressOf = (form, button) => `${form.action.split("?")[0]}?${new URLSearchParams(new FormData(form, button))}`;

  document.addEventListener("click", async (event) => {
    for (const menu of document.querySelectorAll("#board details.menu[open]")) if (!menu.contains(event.target)) menu.open = false;
    const link = event.target.closest(LINKS);
    if (!link || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    const write = link.dataset.views === "replace" ? "replaceState" : "pushState";
    if ((await show(link.href, { write })) && link.rel) document.getElementById("ranking").scrollIntoView();
  });

  document.addEventListener("submit", (event) => {
    const { target: form, submitter } = event;
    if (!form.closest("#board")) return;
    event.preventDefault();
    const address = addressOf(form, submitter);
    if (form.id !== "ranking") { show(address, { without: FORM }); return; }
    // A newer tick replaces the request of the one before, so the form holds each at once.
    form.append(Object.assign(document.createElement("input"), { type: "hidden", name: submitter.name, value: submitter.value }));
    submitter.ariaPressed = String(submitter.ariaPressed !== "true");
    show(address, { write: "replaceState" });
  });

  let typing;
  document.addEventListener("input", ({ target }) => {
    if (target.id !== "q") return;
    clearTimeout(typing);
    typing = setTimeout(() => show(addressOf(target.form), { without: FORM, write: "replaceState" }), 150);
  });
  document.addEventListener("change", ({ target }) => {
    if (target.closest(".filters")) show(addressOf(target.form), { without: FORM });
  });

  // A jump within the page changes no view.
  addEventListener("popstate", () => {
    asked += 1;
    if (place() !== shown) show(place(), { write: "" });
  });

  // Answers are there before the click: to what a pointer or the focus comes to, and once to the orders of the front page.
  for (const event of ["pointerover", "focusin"]) {
    document.addEventListener(event, ({ target }) => {
      const link = target.closest(LINKS);
      if (link) answer(link.href);
    });
  }
  addEventListener("load", () => (window.requestIdleCallback ?? setTimeout)(async () => {
    if (location.search || navigator.connection?.saveData) return;
    const views = await part(place(), "orders").then((reply) => reply.json()).catch(() => ({}));
    for (const [address, html] of Object.entries(views)) orders.set(new URL(address, location).href, { at: performance.now(), html });
  }));
})();
