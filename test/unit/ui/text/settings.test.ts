import { expect, test } from "bun:test";
import { changeText, findings } from "../../../../src/ui/text/settings.ts";
import { serverFixture } from "../../../support/ui/operator-fixtures.ts";

const setting = (flag: string, value: string) => ({ flag, variable: "BERTH_X", value });
const found = (changes: object) =>
  Object.fromEntries(
    findings({ ...serverFixture(), ...changes }).map(({ name, tone, text }) => [name, `${tone} ${text}`]),
  );

test("the plane without TLS is a warning only where other machines reach it", () => {
  const name = "TLS of this page";
  const of = (address: string, tls: string) =>
    found({ settings: [setting("--observability-addr", address), setting("--observability-tls", tls)] })[name];
  expect(of("0.0.0.0:8687", "off")).toStartWith("warn other machines reach");
  expect(of("0.0.0.0:8687", "self-signed")).toBe("good self-signed at 0.0.0.0:8687");
  expect(of("127.0.0.1:8687", "off")).toStartWith("good only this machine");
  expect(of("off", "off")).toStartWith("idle");
});

test("what does not work is never good", () => {
  const { engine } = serverFixture();
  const broken = found({
    engine: { ...engine, up: false, error: "refused", live_restore: false },
    proxy: { state: "failing", problem: "port 80 is taken", listen: [] },
    forwarding: { state: "blocked", detail: "a firewall rule" },
  });
  expect(broken.Docker).toBe("bad refused");
  expect(broken["Live restore"]).toStartWith("warn");
  expect(broken.HAProxy).toBe("warn port 80 is taken");
  expect(broken["Network between containers"]).toStartWith("bad");
});

test("a value that systemd would read otherwise is left to the operator", () => {
  expect(changeText(setting("--x", "127.0.0.1:8687"))).toBe("Environment=BERTH_X=127.0.0.1:8687");
  expect(changeText(setting("--x", "none: mails are kept"))).toBe("Environment=BERTH_X=VALUE");
});
