import { expect, test } from "bun:test";
import { needsBuildkit } from "../../../../../src/orchestration/core/build/needs-buildkit.ts";

test.each([
  ["RUN --mount=type=secret,id=a cat /run/secrets/a", true],
  ["FROM a\n  run --network=none --mount=type=cache,target=/x true", true],
  ["FROM a\nCOPY --from=b --link x y", true],
  ["FROM a\nADD --checksum=sha256:1 https://a/b c", true],
  ["FROM a\nRUN <<END\ntrue\nEND", true],
  ["FROM a\nCOPY --chown=1:1 --from=b x y", false],
  ["FROM a\nRUN mount --bind a b && ls --link", false],
  ["FROM a\n# RUN --mount=type=secret", false],
])("%j: %p", (dockerfile, needs) => {
  expect(needsBuildkit(dockerfile)).toBe(needs);
});
