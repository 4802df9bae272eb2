// What every page does with keys and narrow screens: the header, and whatever is folded.
(() => {
  "use strict";
  // On a phone the row of pages scrolls sideways: the page one is on comes into sight.
  function watch() {
    const row = document.querySelector(".top nav");
    if (!row) return false;
    new ResizeObserver(() => {
      const here = row.querySelector("[aria-current]");
      if (here && here.getBoundingClientRect().right > row.getBoundingClientRect().right) {
        row.scrollLeft = here.offsetLeft - row.offsetLeft - 16;
      }
    }).observe(row);
    return true;
  }
  // Gradio's pages get their header after this has begun.
  if (!watch()) {
    const drawing = new MutationObserver(() => { if (watch()) drawing.disconnect(); });
    drawing.observe(document.documentElement, { childList: true, subtree: true });
  }

  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    const fold = event.target.closest("details[open]");
    if (fold) { fold.open = false; fold.querySelector("summary").focus(); }
  });

  // A table that is wider than a phone can be scrolled with keys; one that fits is no stop of the keyboard.
  const wide = new ResizeObserver((parts) => parts.forEach(({ target: part }) => {
    if (part.scrollWidth <= part.clientWidth) { part.removeAttribute("tabindex"); part.removeAttribute("role"); return; }
    part.tabIndex = 0;
    part.setAttribute("role", "group");
    part.setAttribute("aria-label", part.querySelector("caption")?.textContent.trim() ?? "");
  }));
  document.querySelectorAll(".scroll:not([tabindex])").forEach((part) => wide.observe(part));

  // Paper has no address bar.
  addEventListener("beforeprint", () => {
    const place = document.querySelector(".printed [data-address]");
    if (place) place.textContent = location.href + "\u2002";
  });

  // By script, because Gradio's pages have a base: there the link would lead to another page.
  document.addEventListener("click", (event) => {
    const target = document.getElementById(event.target.closest(".skip")?.hash.slice(1));
    if (!target) return;
    event.preventDefault();
    target.tabIndex = -1;
    target.focus();
  });

  // The other language has the same address, with all that the reader has chosen.
  document.addEventListener("click", (event) => {
    const language = event.target.closest("a[data-language]")?.dataset.language;
    if (!language || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    const address = new URL(location.href);
    address.searchParams.set("lang", language);
    location.assign(address);
  });
})();
