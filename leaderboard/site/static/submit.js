// What the submit page does in the browser: what is being done, errors at their fields, where the focus goes.
(() => {
  "use strict";
  const at = (selector) => document.querySelector(selector);
  // Sentences in the language of the page: web/gradio_app.py lists them. English is written here.
  const SENTENCES = JSON.parse(at("#script-texts")?.textContent || "{}");
  const tr = (text) => SENTENCES[text] ?? text;

  // One line below the file says what is being done; it goes away with the next report.
  function tell(anchor, text) {
    let line = at("#vl-progress");
    if (!text) { line?.remove(); return; }
    if (!line) {
      line = document.createElement("p");
      line.id = "vl-progress";
      line.setAttribute("role", "status");
    }
    if (line.previousElementSibling !== anchor) anchor.after(line);
    line.textContent = text;
  }

  const field = (name) => at(`#field-${name} :is(input, textarea)`);
  function clear(input) {
    const message = document.getElementById(input.getAttribute("aria-describedby") || "");
    if (message?.classList.contains("vl-wrong")) message.remove();
    input.removeAttribute("aria-invalid");
    input.removeAttribute("aria-describedby");
  }
  function mark(item) {
    const input = field(item.dataset.field);
    if (!input) return null;
    clear(input);
    const message = document.createElement("p");
    message.id = "wrong-" + item.dataset.field;
    message.className = "vl-wrong";
    const why = item.textContent.replace(/^[^:：]{1,40}(?:: |：)/, "").trim();
    message.textContent = why.charAt(0).toUpperCase() + why.slice(1);
    input.setAttribute("aria-invalid", "true");
    input.setAttribute("aria-describedby", message.id);
    at("#field-" + item.dataset.field).append(message);
    const fold = [...document.querySelectorAll("button.label-wrap:not(.open)")]
      .find((button) => button.parentElement.contains(input));
    fold?.click();
    return input;
  }

  function show() {
    tell(null, "");
    document.querySelectorAll("[aria-invalid]").forEach((input) => { if (input.closest("[id^=field-]")) clear(input); });
    const wrong = [...document.querySelectorAll("#outcome [data-field]")].map(mark).filter(Boolean);
    const card = at("#outcome [data-state]");
    if (wrong.length) setTimeout(() => wrong[0].focus(), 60);  // after its section has opened
    else if (card && !card.dataset.seen) scrollTo({ top: 0 });
    else at("#outcome [role=alert]")?.scrollIntoView({ block: "nearest" });
    if (card && document.activeElement === document.body) card.focus({ preventScroll: true });
  }

  function watch() {
    const outcome = at("#outcome"), report = at("#report");
    if (!outcome || !report) return false;
    let shown = "";
    new MutationObserver(() => {
      const text = outcome.querySelector("[data-state]")?.dataset.state ?? outcome.textContent;
      if (text === shown) return;  // asked again, with the same answer
      shown = text;
      if (text.trim()) show();
    }).observe(outcome, { childList: true, subtree: true, characterData: true });
    new MutationObserver(() => tell(null, "")).observe(report, { childList: true, subtree: true, characterData: true });
    return true;
  }
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-again]")) { event.preventDefault(); location.reload(); }
    const button = event.target.closest("#submit");
    if (button && !button.disabled) tell(at("#why-off"), tr("Submitting…"));
  });
  document.addEventListener("input", (event) => {
    if (event.target.closest("[id^=field-]") && event.target.hasAttribute("aria-invalid")) clear(event.target);
  });
  for (const kind of ["change", "drop"]) {
    document.addEventListener(kind, (event) => {
      if (event.target.closest("#predictions")) tell(at("#predictions"), tr("Uploading and checking the file…"));
    });
  }
  // Gradio labels its upload element in English, whatever the language of the page.
  const LABELS = [tr("Click to upload or drop files"), tr("File upload")];
  function label() {
    ["Click to upload or drop files", "File upload"].forEach((english, index) => {
      document.querySelectorAll(`[aria-label="${english}"]`).forEach((one) => one.setAttribute("aria-label", LABELS[index]));
    });
  }
  if (SENTENCES["File upload"]) new MutationObserver(label).observe(document.documentElement, { childList: true, subtree: true });
  if (!watch()) {
    const drawing = new MutationObserver(() => { if (watch()) drawing.disconnect(); });
    drawing.observe(document.documentElement, { childList: true, subtree: true });
  }
})();
