// What a script adds to the analyse page: numbers at the pointer, choices that act at once, the figure as a picture.
(() => {
  "use strict";
  const figure = document.querySelector("[data-figure]");
  const form = document.querySelector("[data-analyse]");

  // A mark says its numbers as soon as it is pointed at, or touched, instead of after a second or never.
  if (figure) {
    const tip = document.createElement("div");
    tip.className = "tip";
    tip.hidden = true;
    tip.setAttribute("aria-hidden", "true"); // readers of the page have the table
    figure.append(tip);
    const near = (event) => {
      const mark = event.target.closest("circle,rect,g path");
      const title = mark?.querySelector("title");
      if (title) {
        mark.dataset.title = title.textContent;
        title.remove(); // or the browser shows it too
      }
      return mark?.dataset.title;
    };
    figure.addEventListener("pointermove", (event) => {
      const text = near(event);
      tip.hidden = !text;
      if (!text) return;
      tip.textContent = text;
      const box = figure.getBoundingClientRect();
      const left = event.clientX - box.left + 14;
      tip.style.left = `${Math.max(0, Math.min(left, box.width - tip.offsetWidth))}px`;
      tip.style.top = `${event.clientY - box.top + 18}px`;
    });
    figure.addEventListener("pointerleave", () => { tip.hidden = true; });
  }

  if (form) {
    const search = form.querySelector("[name=add]");
    const labels = [...form.querySelectorAll(".judges fieldset label")];
    search?.addEventListener("input", () => {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const label of labels) {
        const text = label.textContent.toLowerCase();
        label.hidden = !words.every((word) => text.includes(word));
      }
    });
    // A rule is one choice: it acts at once. Judges are several: a button draws them.
    form.addEventListener("change", (event) => {
      if (event.target.matches("[type=radio],select")) form.requestSubmit();
    });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const address = new URL(form.action);
      const entries = new FormData(form).getAll("entries").filter(Boolean);
      for (const [name, value] of new FormData(form)) {
        if (name !== "entries" && value) address.searchParams.set(name, value);
      }
      const several = form.querySelector("[name=entries]") ? `entries=${entries.join(",")}` : "";
      address.search = [address.searchParams.toString(), several].filter(Boolean).join("&");
      location.assign(address);
    });
  }

  // The browser draws the SVG file into a picture; the server keeps none.
  const link = document.querySelector("[data-picture]");
  if (link) {
    link.hidden = false;
    link.addEventListener("click", (event) => {
      event.preventDefault();
      const image = new Image();
      image.addEventListener("load", () => {
        const canvas = document.createElement("canvas");
        canvas.width = 2 * image.naturalWidth;
        canvas.height = 2 * image.naturalHeight;
        canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
        canvas.toBlob((blob) => {
          const save = document.createElement("a");
          save.download = link.dataset.picture;
          save.href = URL.createObjectURL(blob);
          save.click();
          setTimeout(() => URL.revokeObjectURL(save.href), 1000);
        });
      });
      image.src = link.href;
    });
  }
})();
