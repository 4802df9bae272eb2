// The board in the browser: clean addresses, the order of rows at once, and menus. The server draws, htmx fetches.
(() => {
  "use strict";
  // An address has no empty field and no usual columns, a list is one parameter, and who is named twice is taken off.
  document.addEventListener("htmx:configRequest", ({ detail: { elt, formData: sent, triggeringEvent } }) => {
    // htmx would let the button's value replace those of hidden fields with its name.
    const form = elt.id === "ranking" ? new FormData(elt, triggeringEvent.submitter) : sent;
    for (const name of new Set(form.keys())) {
      const given = form.getAll(name), some = name === "q" ? given : given.flatMap((text) => text.split(","));
      const left = some.filter((one) => one && some.filter((same) => same === one).length % 2);
      sent.delete(name);
      const text = [...new Set(left)].join(",");
      if (text && (name !== "cols" || text !== document.querySelector("[data-usual]").dataset.usual)) sent.set(name, text);
    }
    const pressed = elt.id === "ranking" && triggeringEvent.submitter;
    if (pressed?.name) remember(elt, pressed, sent.get(pressed.name));
  });
  // A newer tick replaces the request of the one before, so the form holds each at once.
  function remember(form, button, value) {
    for (const field of form.querySelectorAll(`input[type=hidden][name="${button.name}"]`)) field.remove();
    const field = { type: "hidden", name: button.name, value: value ?? "" };
    form.append(Object.assign(document.createElement("input"), field));
    if (button.ariaPressed) button.ariaPressed = String(button.ariaPressed !== "true");
  }

  // htmx finds the focus again by ids, and compares all ids: the buttons of rows have none.
  document.addEventListener("htmx:afterSwap", ({ detail: { requestConfig } }) => {
    const { name, value } = requestConfig?.triggeringEvent?.submitter ?? {};
    if (value) document.querySelector(`#ranking button[name=${name}][value="${CSS.escape(value)}"]`)?.focus();
  });

  // Rows that are all here take their new order at once; the answer brings ranks and sentences.
  const key = (row, name) => {
    const cell = row.querySelector(name === "model" ? "th a" : `td.${name}`), text = (cell?.querySelector("b") ?? cell)?.textContent.trim() ?? "";
    return text === "" ? null : /^[\d.,]+$/.test(text) ? Number(text.replaceAll(",", "")) : text.toLowerCase();
  };
  function reorder(body, name, sign) {
    const rows = [...body.children].map((row, at) => [key(row, name), at, row]);
    rows.sort(([a, i], [b, j]) => (a === null) - (b === null) || (a < b ? -sign : a > b ? sign : i - j));
    body.append(...rows.map(([, , row]) => row));
  }
  document.addEventListener("htmx:confirm", (event) => {
    const { sort, dir } = event.target.dataset, whole = document.querySelector("[data-whole]");
    if (!sort || !whole) return;
    event.preventDefault();
    whole.classList.add("sorting");
    for (const body of whole.querySelectorAll(".ranked tbody")) reorder(body, sort, dir === "desc" ? -1 : 1);
    requestAnimationFrame(() => setTimeout(() => event.detail.issueRequest(true)));
  });

  // The answer to a click is asked for when the pointer comes to a link; the browser keeps it for seconds.
  document.addEventListener("pointerover", ({ target }) => {
    const link = target.closest(".board :is([hx-boost] a, a[hx-boost])");
    if (!link || link.asked) return;
    link.asked = true;
    fetch(link.href, { headers: { "HX-Preloaded": "true" } }).catch(() => {});
  });

  for (const event of ["htmx:sendError", "htmx:responseError"]) {
    document.addEventListener(event, () => { document.querySelector("[data-failed]").hidden = false; });
  }

  // Menus close with a click elsewhere (and with Escape, see nav.js).
  document.addEventListener("click", ({ target }) => {
    for (const menu of document.querySelectorAll(".board details.menu[open]")) if (!menu.contains(target)) menu.open = false;
  });
})();
