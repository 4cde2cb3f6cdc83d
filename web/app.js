/* SPDX-License-Identifier: Apache-2.0 */
// app.js: keeps the page up to date. The server writes the page whole; this fetches it again every second and
// changes what differs in the elements marked data-live. Nothing is computed here, nothing is sent anywhere else.
"use strict";

const every = 1000; // milliseconds
const lost = document.getElementById("lost");
const said = document.getElementById("said");
let failures = 0;
let lastAnswer = new Date();

// Words for a screen reader, only when something happened that a person would want to hear.
function say(text) {
  if (said.textContent !== text) said.textContent = text;
}

// Make `old` what `next` is, changing only what differs, so that whoever reads keeps their place: an element that stays
// keeps the focus, a selection in it, and whether it was opened. Children with an id are matched by it, all others by
// their order.
function become(old, next) {
  for (const { name } of [...old.attributes]) {
    const kept = name === "open" || (name === "tabindex" && old === document.activeElement);
    if (!kept && !next.hasAttribute(name)) old.removeAttribute(name);
  }
  for (const { name, value } of next.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  let at = old.firstChild;
  for (const child of next.childNodes) {
    const same = child.id ? [...old.children].find((e) => e.id === child.id) : at;
    if (!same || same.nodeName !== child.nodeName || (same.id || "") !== (child.id || "")) {
      old.insertBefore(document.importNode(child, true), at);
      continue;
    }
    if (same !== at) old.insertBefore(same, at);
    if (child.nodeType === Node.ELEMENT_NODE) become(same, child);
    else if (same.data !== child.data) same.data = child.data;
    at = same.nextSibling;
  }
  while (at) {
    const rest = at.nextSibling;
    at.remove();
    at = rest;
  }
}

function exchange(fresh) {
  const before = document.getElementById("expert").textContent;
  const stateBefore = document.getElementById("state").textContent;
  for (const old of document.querySelectorAll("[data-live]")) {
    const next = fresh.getElementById(old.id);
    if (next && next.innerHTML !== old.innerHTML) become(old, next);
  }
  document.title = fresh.title;
  const expert = document.getElementById("expert").textContent;
  const state = document.getElementById("state").textContent;
  if (expert !== before) say("Expert " + expert + " is in force now.");
  else if (state !== stateBefore) say("The run is " + state + ".");
}

async function update() {
  try {
    const answer = await fetch("/" + location.search, { cache: "no-store", signal: AbortSignal.timeout(5 * every) });
    if (!answer.ok) throw new Error("status " + answer.status);
    exchange(new DOMParser().parseFromString(await answer.text(), "text/html"));
    failures = 0;
    lastAnswer = new Date();
    lost.hidden = true;
  } catch {
    failures += 1;
    if (failures === 2) {
      lost.textContent =
        "No answer from the coordinator since " + lastAnswer.toLocaleTimeString() + ". Shown: the last values.";
      lost.hidden = false;
    }
  }
  setTimeout(update, document.hidden ? 5 * every : every);
}

setTimeout(update, every);
