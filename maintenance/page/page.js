// The maintain page: dialogs of row actions, ticked rows, and the tab in the address. Runs once; listens to the page.
if (!window.vlMaintain) {
  window.vlMaintain = true;
  const ofTable = (name) => document.querySelector(`[id="${name}"]`);
  const dialogsOf = (name) => document.querySelector(`[id="${name}-dialogs"]`);
  const rowOf = (tr) => ({key: tr.dataset.key, name: tr.dataset.called, without: (tr.dataset.without || "").split(" ")});
  const ticked = (table) => [...table.querySelectorAll("tr:has([data-tick]:checked)")].map(rowOf);
  const named = (part) => {
    for (let at = part; at; at = at.parentElement) if (at.id && dialogsOf(at.id)) return at.id;
    return "";
  };
  let chosen = [];

  const recount = (table) => {
    const rows = ticked(table), bar = table.querySelector(".vl-bulk");
    if (!bar) return;
    bar.hidden = !rows.length;
    const words = bar.querySelector("[data-ticked]");
    words.textContent = words.dataset.words.replace("{n}", rows.length);
    for (const button of bar.querySelectorAll("[data-act]"))
      button.disabled = rows.every((row) => row.without.includes(button.dataset.act));
    const all = table.querySelector("[data-tick-all]"), boxes = table.querySelectorAll("[data-tick]");
    all.checked = rows.length === boxes.length;
    all.indeterminate = rows.length > 0 && rows.length < boxes.length;
  };

  const open = (name, action, rows) => {
    chosen = rows.filter((row) => !row.without.includes(action));
    const dialog = dialogsOf(name).querySelector(`dialog[data-action="${action}"]`);
    dialog.querySelector("form").reset();
    dialog.querySelector("[data-rows]").replaceChildren(...chosen.map((row) => {
      const item = document.createElement("li");
      item.dir = "auto";
      item.textContent = row.name;
      return item;
    }));
    dialog.showModal();
    dialog.querySelector("textarea, input, select:not([data-template])")?.focus();
  };

  const openMenu = (name, row) => {
    chosen = [row];
    const menu = dialogsOf(name).querySelector("dialog.vl-menu");
    menu.querySelector("[data-name-of-row]").textContent = row.name;
    for (const button of menu.querySelectorAll("[data-act]")) button.hidden = row.without.includes(button.dataset.act);
    menu.showModal();
  };

  const valuesOf = (form) => [...form.elements].filter((field) => field.name).map((field) =>
    [field.name, field.type === "checkbox" ? (field.checked ? "on" : "") : field.value]);

  // Gradio listens on its own element around the dialogs.
  const send = (name, kind, detail) =>
    dialogsOf(name).querySelector("dialog").dispatchEvent(new CustomEvent(kind, {bubbles: true, detail}));

  document.addEventListener("click", (event) => {
    const button = event.target.closest(".vl-maintain button, .vl-maintain [data-tick-all]");
    if (!button) return;
    const dialog = button.closest("dialog");
    if (button.dataset.close !== undefined) return dialog.close();
    if (button.dataset.tickAll !== undefined) return;
    const name = dialog ? dialog.dataset.table : named(button);
    if (!name) return;
    const row = button.closest("tr[data-key]");
    if (button.dataset.show !== undefined) return send(name, "maintain:show", {key: rowOf(row).key});
    if (button.dataset.menu !== undefined) return openMenu(name, rowOf(row));
    if (button.dataset.untick !== undefined) {
      for (const box of ofTable(name).querySelectorAll("[data-tick]")) box.checked = false;
      return recount(ofTable(name));
    }
    if (!button.dataset.act) return;
    const rows = dialog ? chosen : row ? [rowOf(row)] : ticked(ofTable(name));
    dialog?.close();
    open(name, button.dataset.act, rows);
  });

  document.addEventListener("change", (event) => {
    const field = event.target;
    if (field.dataset.template !== undefined) {
      const text = field.parentElement.querySelector("textarea");
      if (field.value) text.value = field.value;
      text.focus();
      return;
    }
    const name = field.dataset.tick !== undefined || field.dataset.tickAll !== undefined ? named(field) : "";
    if (!name) return;
    const table = ofTable(name);
    if (field.dataset.tickAll !== undefined)
      for (const box of table.querySelectorAll("[data-tick]")) box.checked = field.checked;
    recount(table);
  });

  document.addEventListener("submit", (event) => {
    const dialog = event.target.closest("dialog[data-action]");
    if (!dialog) return;
    const detail = {
      action: dialog.dataset.action, keys: chosen.map((row) => row.key), fields: valuesOf(event.target)};
    send(dialog.dataset.table, "maintain:act", detail);
  });

  // The tab in the address. Gradio names a tab's button after the tab.
  const tabButton = (tab) => document.getElementById(`maintain-${tab}-button`);
  const earlierNames = {review: "disputes"};
  const tabHere = () => {
    const name = new URLSearchParams(location.search).get("tab") || "health";
    return earlierNames[name] || name;
  };
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[role=tab]");
    const found = button && /^maintain-([a-z-]+)-button$/.exec(button.id);
    if (!found || !event.isTrusted || found[1] === tabHere()) return;
    const address = new URL(location);
    address.searchParams.set("tab", found[1]);
    history.pushState(null, "", address);
  });
  addEventListener("popstate", () => tabButton(tabHere())?.click());
}
