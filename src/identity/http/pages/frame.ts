import { accentOf } from "../../core/accent.ts";
import { type Html, markup } from "../../core/html.ts";
import type { Language } from "../../core/languages.ts";
import { sayIn, type Say } from "../../core/messages.ts";
import { styleSheet } from "./style.ts";

/** Whose page it is, and in which language. */
export interface Face {
  language: Language;
  /** Name of the app; empty where no instance is known. */
  title: string;
  /** https address, or empty. */
  logoUrl: string;
  /** `#rrggbb`, or empty. */
  accent: string;
}

interface Frame {
  face: Face;
  /** Heading of the browser's tab and of the page. */
  heading: string;
  /** Below the heading. */
  intro?: string | undefined;
  body: Html;
  nonce: string;
}

export function sayFor({ language }: Face): Say {
  return sayIn(language);
}

/** A whole page. Everything that is filled in is escaped by `markup`. */
export function frame({ face, heading, intro, body, nonce }: Frame): string {
  const { language, title, logoUrl, accent } = face;
  const page = markup`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title === "" || heading.includes(title) ? heading : `${heading} · ${title}`}</title>
<style nonce="${nonce}">
${{ html: styleSheet(accentOf(accent)) }}
</style>
</head>
<body>
<main>
<header>
${badge(title, logoUrl)}
<h1>${heading}</h1>
${intro !== undefined && markup`<p>${intro}</p>`}
</header>
${body}
</main>
</body>
</html> `;
  return page.html;
}

function badge(title: string, logoUrl: string): Html | false {
  if (logoUrl !== "") return markup`<img src="${logoUrl}" alt="${title}" referrerpolicy="no-referrer">`;
  const [first] = title.trim();
  return first !== undefined && markup`<div class="mark" aria-hidden="true">${first.toUpperCase()}</div>`;
}
