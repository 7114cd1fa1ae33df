// Keeps a page that is open at the head of the chain. Without this script pages stand as they were drawn.
"use strict";
(() => {
  const root = document.documentElement;
  const units = JSON.parse(document.body.dataset.ages);
  const rules = new Intl.PluralRules(root.lang);
  const order = root.lang === "ru" ? ["one", "few", "many"] : ["one", "other"];
  const steps = [[31536000, "years"], [86400, "days"], [3600, "hours"], [60, "minutes"], [1, "seconds"]];
  let ahead = Number(document.body.dataset.now) - Date.now() / 1000;

  const age = (seconds) => {
    const past = Math.floor(Date.now() / 1000 + ahead) - seconds;
    if (past >= -1 && past <= 0) return units.now;
    const size = Math.abs(past);
    const [step, name] = steps.find((each) => size >= each[0]);
    const count = Math.floor(size / step);
    const span = units[name][Math.max(0, order.indexOf(rules.select(count)))].replace("{n}", String(count));
    return (past > 0 ? units.past : units.ahead).replace("{span}", span);
  };
  const tick = () => {
    for (const each of document.querySelectorAll("[data-ago]")) {
      const text = age(Number(each.dataset.ago));
      if (each.textContent !== text) each.textContent = text;
    }
  };
  setInterval(tick, 1000);

  const put = (id, html) => {
    const place = document.getElementById(id);
    if (!place || place.contains(document.activeElement)) return;
    place.innerHTML = html;
  };
  const away = document.getElementById("away");
  const pulse = document.getElementById("pulse");
  const place = "/live?lang=" + root.lang + (document.getElementById("live-blocks") ? "&front=1" : "");
  let source = null;
  const follow = () => {
    source = new EventSource(place);
    source.addEventListener("block", (event) => {
      const told = JSON.parse(event.data);
      ahead = told.now - Date.now() / 1000;
      away.hidden = true;
      for (const [id, html] of Object.entries(told.parts)) put(id, html);
      pulse.classList.remove("beat");
      void pulse.offsetWidth;
      pulse.classList.add("beat");
      pulse.classList.remove("is-late");
      tick();
    });
    source.addEventListener("away", () => {
      away.hidden = false;
      pulse.classList.add("is-late");
    });
  };
  // A page that was left may be kept by the browser, and its connection with it, of which there are only six.
  addEventListener("pagehide", () => source.close());
  addEventListener("pageshow", follow);

  for (const each of document.querySelectorAll("nav [aria-current]")) {
    const row = each.parentElement; // on a phone it may be longer than the screen
    row.scrollLeft = each.offsetLeft - row.offsetLeft - (row.clientWidth - each.offsetWidth) / 2;
  }
  for (const each of document.querySelectorAll("[data-theme-choice]")) {
    each.addEventListener("click", (event) => {
      event.preventDefault();
      const dark = root.dataset.theme === "dark" ||
        (root.dataset.theme === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
      root.dataset.theme = dark ? "light" : "dark";
      document.cookie = "theme=" + root.dataset.theme + "; path=/; max-age=31536000; samesite=lax";
    });
  }
})();
