import { expect, test } from "bun:test";
import { serveOptions } from "../../../src/config/config.ts";
import { shownSettings } from "../../../src/config/shown-settings.ts";

test("settings are shown as they are, with the flag and the variable that change them", () => {
  const shown = shownSettings(serveOptions({ observabilityAddr: "127.0.0.1:1" }, {}));
  expect(shown).toContainEqual({
    flag: "--observability-addr",
    variable: "BERTH_OBSERVABILITY_ADDR",
    value: "127.0.0.1:1",
  });
  expect(shown).toContainEqual({ flag: "--stats-interval", variable: "BERTH_STATS_INTERVAL", value: "15s" });
  expect(new Set(shown.map(({ flag }) => flag)).size).toBe(shown.length);
});

test("the password of the mail server is never among them", () => {
  const url = "smtps://ana:s3cret@mail.example:465";
  const shown = shownSettings(serveOptions({ smtpUrl: url, mailFrom: "Shop <a@shop.example>" }, {}));
  expect(JSON.stringify(shown)).not.toContain("s3cret");
  expect(shown.find(({ flag }) => flag === "--smtp-url")?.value).toBe("mail.example:465");
});
