// Comfort alone: every page does all it can without this.
"use strict";

const typing = (element) => element.closest("input, textarea, select, [contenteditable]") !== null;

function step(by) {
  const items = [...document.querySelectorAll(".item")];
  if (items.length === 0) return;
  const at = items.findIndex((one) => one.contains(document.activeElement));
  const next = items[Math.min(Math.max(at + by, 0), items.length - 1)];
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
  const help = document.getElementById("help");
  const grade = document.querySelector(`button[data-key="${CSS.escape(event.key)}"]`);
  if (help && help.open) return;
  if (event.key === "/") {
    const box = document.getElementById("q");
    if (box) { box.focus(); box.select(); } else { location.href = "/"; }
  } else if (event.key === "j") step(1);
  else if (event.key === "k") step(-1);
  else if (event.key === "?" && help) help.showModal();
  else if (grade) grade.click();
  else return;
  event.preventDefault();
});

const marks = () => [...document.querySelectorAll('input[form="bulk"]')];

function offer() {
  const none = !marks().some((box) => box.checked);
  for (const button of document.querySelectorAll("#bulk button")) button.disabled = none;
}

document.addEventListener("change", (event) => {
  if (event.target.matches("[data-mark-all]")) for (const box of marks()) box.checked = event.target.checked;
  offer();
});
addEventListener("pageshow", offer);
