/* SPDX-License-Identifier: Apache-2.0 */
/* page_style.c: how the report looks: light, dark, on a phone and on paper. See parts.h.
 * layer: study
 *
 * On a phone tables of numbers (class compare) stay tables, so that rows can be compared; those of many words become
 * cards, where every cell says its column (cards.c). On paper no figure, row or claim is cut in two. */
#include "study/parts.h"

const char caucus_page_style[] =
    ":root{color-scheme:light dark;--ink:#1c1c1c;--soft:#5a5a5a;--line:#d4d4d4;--back:#fff;--card:#f6f6f4;"
    "--good:#00694d;--bad:#b03a00;--link:#005a8d}\n"
    "@media screen and (prefers-color-scheme:dark){:root{--ink:#e8e8e6;--soft:#a9a9a6;--line:#474744;--back:#1b1b1a;"
    "--card:#272725;--good:#4fd0a8;--bad:#ff9a62;--link:#7cc4f0}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;max-width:48rem;padding:1.2rem 1rem 4rem;font:1rem/1.55 system-ui,sans-serif;color:var(--ink);"
    "background:var(--back);overflow-wrap:break-word}\n"
    "h1{font-size:1.6rem;line-height:1.25;margin:.4rem 0 .6rem}\n"
    "h2{font-size:1.35rem;line-height:1.3;margin:3rem 0 .4rem;padding-top:.9rem;border-top:2px solid var(--line)}\n"
    "h3{font-size:1.1rem;line-height:1.35;margin:2.2rem 0 .4rem}h4{font-size:1rem;margin:1.4rem 0 .3rem}\n"
    "a{color:var(--link)}small,.soft{color:var(--soft)}dfn{font-weight:600;font-style:normal}\n"
    "nav{background:var(--card);border-radius:4px;padding:.6rem 1rem .7rem;font-size:.95rem}nav p{margin:0;"
    "font-weight:600}nav ul{margin:.2rem 0;padding-left:1.1rem}nav ul ul{font-size:.92em}nav li{margin:.3rem 0}\n"
    "figure{margin:1rem auto;max-width:35rem;background:#fff;border:1px solid "
    "var(--line);border-radius:4px;padding:.4rem}\n"
    "figure.panels{max-width:none}figure svg{display:block;width:100%;height:auto}\n"
    "figcaption{color:#5a5a5a;font-size:.85rem;padding:.3rem .4rem}\n"
    ".many{display:grid;grid-template-columns:repeat(3,1fr);gap:.2rem}\n"
    ".pair{display:grid;grid-template-columns:1fr 1fr;gap:.5rem}.pair figure{padding:.2rem}.pair "
    "h4{min-height:2.8em}.pair>div{min-width:0}\n"
    ".wide{overflow-x:auto;margin:.6rem 0}\n"
    "table{border-collapse:collapse;font-size:.9rem;line-height:1.4;font-variant-numeric:tabular-nums;width:100%}\n"
    "th,td{text-align:left;vertical-align:top;padding:.35rem .6rem .35rem 0;border-bottom:1px solid var(--line)}\n"
    ".number{text-align:right;white-space:nowrap;padding-left:.5rem}td:last-child,th:last-child{padding-right:0}"
    "th,th.number{font-weight:600;border-bottom-width:2px;white-space:normal;vertical-align:bottom}\n"
    "pre{background:var(--card);padding:.6rem "
    ".7rem;border-radius:4px;font-size:.82rem;white-space:pre-wrap;overflow-wrap:anywhere}\n"
    "td code{overflow-wrap:anywhere}.words{min-width:14rem}\n"
    "#departures table{table-layout:fixed;min-width:44rem}#departures td code{font-size:.85em}\n"
    "code{font-family:ui-monospace,monospace;font-size:.92em}\n"
    ".claims{list-style:none;padding:0;margin:.6rem 0}.claims li{padding:.45rem 0 .45rem 4.6rem;border-bottom:1px "
    "solid var(--line);position:relative}\n"
    ".claims b{position:absolute;left:0;font-weight:700}.holds b{color:var(--good)}.fails b{color:var(--bad)}\n"
    ".claims span{display:block;color:var(--soft);font-size:.92rem}\n"
    ".remark{border-left:4px solid var(--line);padding:.1rem .8rem}\n";

const char caucus_page_style_narrow[] =
    "@media(max-width:34rem){.many{grid-template-columns:repeat(2,1fr)}.pair{display:block}.pair h4{min-height:0}"
    "figure{margin:1rem -1rem;border-width:1px 0;border-radius:0;padding:.3rem 2px}"
    ".wide{overflow:visible}"
    ".compare{font-size:.8rem}.compare th,.compare td{padding-right:.4rem}.compare .number{padding-left:.2rem;"
    "padding-right:0;white-space:normal}.compare th{hyphens:auto}.compare td.number small{display:block}"
    "table.cards,.cards tbody,.cards tr,.cards td{display:block}"
    ".cards thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}"
    ".cards tr{border:1px solid var(--line);border-radius:4px;padding:.4rem .7rem;margin:.6rem 0}"
    ".cards td,.cards .words,.cards .number{min-width:0;border:0;padding:.12rem 0}"
    ".cards td:first-child{font-weight:600}.cards .number{text-align:left;white-space:normal}"
    ".cards td[data-label]:not(:first-child){display:grid;grid-template-columns:46% 1fr;gap:.6rem}"
    ".cards td[data-label]:not(:first-child)::before{content:attr(data-label);color:var(--soft)}"
    ".cards td.words{display:block!important}.cards td.words::before{display:block}"
    "#departures table{min-width:0}#departures td:first-child{font-weight:400}}\n"
    "@media(max-width:22rem){.compare{font-size:.7rem}}\n"
    "@media print{body{max-width:none;padding:0;font-size:10pt}h2,h3,h4{break-after:avoid}"
    "figure,tr,pre,.claims li,.pair{break-inside:avoid}figure{max-width:30rem}figure.panels{max-width:40rem}"
    ".wide{overflow:visible}a{color:inherit;text-decoration:none}#departures{break-before:page}}\n";
