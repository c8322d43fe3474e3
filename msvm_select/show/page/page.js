"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const all = (selector) => [...document.querySelectorAll(selector)];
  const data = JSON.parse(byId("data").textContent);
  const table = byId("cells");
  const body = table.tBodies[0];
  const lines = [...body.rows]; // as ranked: lines[i] shows data.rows[i]
  const heads = [...table.tHead.rows[0].cells];

  // The table: sorted by a click or Enter on a heading, what is missing last.
  const compare = (a, b) =>
    typeof a === "string" ? a.localeCompare(b) : Number(a) - Number(b);
  const sortBy = (at, down) => {
    const value = (i) => data.rows[i][at];
    const missing = (i) => value(i) === null || value(i) === "";
    const order = [...lines.keys()].sort((i, j) => {
      if (missing(i) || missing(j)) return missing(i) - missing(j) || i - j;
      return (down ? -1 : 1) * compare(value(i), value(j)) || i - j;
    });
    body.append(...order.map((i) => lines[i]));
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    heads[at].setAttribute("aria-sort", down ? "descending" : "ascending");
  };
  heads.forEach((head, at) =>
    head.firstChild.addEventListener("click", () =>
      sortBy(at, head.getAttribute("aria-sort") === "ascending")));

  // Filter: every word must be in the row, a number or column=value as a whole; the
  // kernel must be the one chosen.
  const tokens = lines.map((line) => [...line.cells].flatMap((cell, at) => {
    const text = cell.textContent.toLowerCase();
    return [text, `${data.columns[at].toLowerCase()}=${text}`];
  }));
  const fits = (found, word) => found.includes(word) ||
    (isNaN(word) && !word.includes("=") && found.some((text) => text.includes(word)));
  const kernelAt = data.columns.indexOf("kernel");
  const filter = () => {
    const words = byId("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
    const kernel = byId("kernel") ? byId("kernel").value : "";
    let shown = 0;
    lines.forEach((line, i) => {
      line.hidden = !(words.every((word) => fits(tokens[i], word)) &&
        (kernel === "" || data.rows[i][kernelAt] === kernel));
      shown += line.hidden ? 0 : 1;
    });
    byId("count").textContent = shown === lines.length
      ? `${shown} cells` : `${shown} of ${lines.length} cells`;
  };
  byId("filter").addEventListener("input", filter);
  if (byId("kernel")) byId("kernel").addEventListener("change", filter);

  // Columns: one rule of style hides those that are not chosen.
  const boxes = all("#columns input");
  byId("columns").addEventListener("change", () => {
    const hidden = boxes.filter((box) => !box.checked)
      .map((box) => `#cells tr>:nth-child(${Number(box.value) + 1})`);
    byId("hidden").textContent =
      hidden.length ? `${hidden.join(",")}{display:none}` : "";
  });

  // The maps: painted anew with another score.
  const cells = all(".cell");
  const paint = (score) => {
    const painting = data.paintings[score];
    cells.forEach((cell) => {
      const i = Number(cell.dataset.row);
      const first = i === painting.first ? " first" : "";
      cell.setAttribute("class", `cell ${painting.styles[i]}${first}`);
      cell.lastChild.textContent = painting.texts[i];
    });
    byId("legend").textContent = painting.legend;
    byId("ends").querySelectorAll("b").forEach((end, i) => {
      end.textContent = painting.ends[i];
    });
  };
  const score = byId("score");
  if (score) {
    score.addEventListener("change", () => paint(score.value));
    paint(score.value);
  }

  // What differs from cell to cell, beside the one at hand while it is pointed at or has the focus.
  const tip = byId("tip");
  const element = (name, text) =>
    Object.assign(document.createElement(name), { textContent: text });
  const varies = data.columns.map((_, at) =>
    data.rows.length < 2 || data.rows.some((row) => row[at] !== data.rows[0][at]));
  const fill = (line) => {
    const list = document.createElement("dl");
    [...line.cells].forEach((cell, at) => {
      if (!varies[at] || cell.textContent === "\u2013") return;
      const pair = document.createElement("div");
      pair.append(element("dt", data.columns[at]), element("dd", cell.textContent));
      list.append(pair);
    });
    tip.replaceChildren(list);
  };
  const place = (box) => {
    const width = document.documentElement.clientWidth;
    const height = document.documentElement.clientHeight;
    const middle = box.left + box.width / 2 - tip.offsetWidth / 2;
    const left = Math.max(4, Math.min(middle, width - tip.offsetWidth - 4));
    const below = box.bottom + 6 + tip.offsetHeight < height;
    const top = below ? box.bottom + 6 : Math.max(4, box.top - 6 - tip.offsetHeight);
    tip.style.left = `${left + scrollX}px`;
    tip.style.top = `${top + scrollY}px`;
  };
  let closing = 0;
  const show = (cell) => {
    clearTimeout(closing);
    fill(lines[Number(cell.dataset.row)]);
    tip.hidden = false;
    cell.setAttribute("aria-describedby", "tip");
    place(cell.getBoundingClientRect());
  };
  const hide = () => { tip.hidden = true; };
  const hideSoon = () => { closing = setTimeout(hide, 120); };
  tip.addEventListener("pointerenter", () => clearTimeout(closing));
  tip.addEventListener("pointerleave", hide);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
  });

  // One stop of the Tab key a map; within it the arrow keys.
  const walk = (grid) => {
    const rows = [...grid.querySelectorAll("[role=row]")]
      .map((row) => [...row.querySelectorAll(".cell")])
      .filter((row) => row.length);
    const inside = rows.flat();
    let stop = inside.find((cell) => "chosen" in cell.dataset) || inside[0];
    stop.setAttribute("tabindex", "0");
    const stopAt = (cell) => { // wherever the focus comes from: arrow, click or Tab
      stop.setAttribute("tabindex", "-1");
      stop = cell;
      stop.setAttribute("tabindex", "0");
    };
    const steps = {
      ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0],
      Home: [0, -Infinity], End: [0, Infinity],
    };
    const clamp = (n, size) => Math.max(0, Math.min(n, size - 1));
    grid.addEventListener("keydown", (event) => {
      const step = steps[event.key];
      const cell = event.target.closest(".cell");
      if (!step || !cell) return;
      event.preventDefault();
      const at = rows.findIndex((row) => row.includes(cell));
      const line = rows[clamp(at + step[0], rows.length)];
      line[clamp(rows[at].indexOf(cell) + step[1], line.length)].focus();
    });
    inside.forEach((cell) => {
      cell.addEventListener("focus", () => { stopAt(cell); show(cell); });
      cell.addEventListener("blur", hide);
      cell.addEventListener("pointerenter", () => show(cell));
      cell.addEventListener("pointerleave", hideSoon);
    });
  };
  all(".heat").forEach(walk);

  // The curves: another line bold, and in front.
  const setting = byId("setting");
  if (setting) {
    setting.addEventListener("change", () => all(".line").forEach((line) => {
      const on = line.dataset.setting === setting.value;
      line.classList.toggle("on", on);
      if (on) line.parentNode.insertBefore(line, line.parentNode.querySelector(".ring"));
    }));
  }

  // The command: copied, or selected where a browser does not allow that.
  const copy = byId("copy");
  if (copy) {
    copy.addEventListener("click", async () => {
      const command = byId("command");
      try {
        await navigator.clipboard.writeText(command.textContent);
        byId("copied").textContent = "Copied.";
      } catch {
        getSelection().selectAllChildren(command);
        byId("copied").textContent = "Selected; copy it with the keyboard.";
      }
    });
  }
})();
