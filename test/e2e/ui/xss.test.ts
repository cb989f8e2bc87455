import { describe, expect, test } from "bun:test";
import {
  configFixture,
  detailFixture,
  diffFixture,
  eventsFixture,
  releasesFixture,
} from "../../support/ui/app-fixtures.ts";
import { openPlayed } from "../../support/ui/browser.ts";
import { overviewFixture, whoFixture } from "../../support/ui/fixtures.ts";
import { hostile, hostileTexts } from "../../support/ui/hostile.ts";

const line = {
  at: new Date().toISOString(),
  scope: "shop",
  name: "api",
  pod: "shop-api.b7k2m",
  replica_id: "b7k2m",
  stream: "stdout",
  level: "error",
  text: "",
};

/** Pages, and a text that says that each is there. */
const pages: [string, string][] = [
  ["/", "need attention"],
  ["/apps/shop/api", "Replicas:"],
  ["/apps/shop/api/deploys?to=r7", "requests failed during the deploy"],
  ["/apps/shop/api/config", "Add to the changes"],
  ["/apps/shop/api/events", "When"],
  ["/deploys", "Took"],
  ["/events", "When"],
  ["/logs?app=shop%2Fapi&from=1h", "the newest"],
];

/** Whatever apps, operators and visitors can write reaches every screen as text. */
const { chromium, plane, tab } = await openPlayed({ "GET /whoami": whoFixture });

function answerWith(text: string): void {
  const overview = overviewFixture();
  Object.assign(plane.answers, {
    "GET /overview": hostile(overview, text),
    "GET /deploys": hostile({ deploys: overview.deploys }, text),
    "GET /apps/shop/api": hostile(detailFixture(), text),
    "GET /apps/shop/api/releases": hostile(releasesFixture, text),
    "GET /apps/shop/api/diff": hostile(diffFixture, text),
    "GET /events": hostile(eventsFixture, text),
    "GET /config/shop/api": hostile(configFixture, text),
    "GET /logs/search": {
      lines: [
        { ...line, text },
        { ...line, text: JSON.stringify({ msg: text, [text]: text }) },
      ],
    },
    "GET /logs/histogram": Response.json({ status: "error", error: text }, { status: 400 }),
  });
}

describe("hostile texts", () => {
  for (const text of hostileTexts) {
    test(`stay text on every screen: ${JSON.stringify(text.slice(0, 40))}`, async () => {
      answerWith(text);
      for (const [path, shown] of pages) {
        await tab.open(`${plane.url}${path}`);
        await tab.shows(shown);
        const found = await tab.read<string[]>(
          `[...document.querySelectorAll("img, iframe, object, embed, script:not([src]), style, [onerror], [onload], [onclick], b, a[href^='javascript' i]")].map((one) => one.outerHTML)`,
        );
        expect({ path, found, pwned: await tab.read("window.pwned ?? null") }).toEqual({
          path,
          found: [],
          pwned: null,
        });
        const wide = await tab.read<number>("document.documentElement.scrollWidth - innerWidth");
        expect({ path, wide: Math.max(0, wide) }).toEqual({ path, wide: 0 });
      }
    });
  }

  test("no page complained", () => expect(chromium.complaints).toEqual([]));
});
