// What a script adds to the analyse page: the figure, as a picture too, and choices that act at once.
(() => {
  "use strict";
  const form = document.querySelector("[data-analyse]");

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

  const dark = matchMedia("(prefers-color-scheme: dark)");
  const narrow = matchMedia("(max-width: 699px)");
  const drawing = async (address) => (await fetch(address)).json();

  // The page has the figure's title already; on a dark ground every colour has its own.
  const draw = async (figure) => {
    const { plotly, dark: colours } = await drawing(narrow.matches ? figure.dataset.narrow : figure.dataset.wide);
    const text = JSON.stringify(plotly);
    const shown = dark.matches ? text.replace(/#[0-9a-f]{6}|\d+,\d+,\d+/g, (one) => colours[one] ?? one) : text;
    const { data, layout } = JSON.parse(shown);
    const { heading } = layout.meta;
    delete layout.title;
    Object.assign(layout, { height: layout.height - heading, margin: { ...layout.margin, t: layout.margin.t - heading } });
    await Plotly.react(figure, data, layout, { displayModeBar: false, responsive: true });
    figure.removeAllListeners("plotly_click");
    figure.on("plotly_click", ({ points: [{ customdata }] }) => {
      if (customdata) location.assign(new URL(customdata, new URL(figure.dataset.wide, location.href)));
    });
  };
  for (const figure of document.querySelectorAll(".drawing")) {
    draw(figure);
    for (const media of [dark, narrow]) media.addEventListener("change", () => draw(figure));
    for (const link of figure.nextElementSibling.querySelectorAll("[data-picture]")) {
      link.hidden = false;
      link.addEventListener("click", async (event) => {
        event.preventDefault();
        const { data, layout } = (await drawing(figure.dataset.wide)).plotly;
        const [filename, format] = link.dataset.picture.split(".");
        Plotly.downloadImage({ data, layout }, { filename, format, width: 1160, height: layout.height, scale: 2 });
      });
    }
  }
})();
