import { describe, expect, test } from "bun:test";
import { parseAssetReference, placeholdersIn, substitute } from "../../../../src/orchestration/core/placeholders.ts";

const dollar = "$";

describe("placeholders", () => {
  test("assets with and without scope, refs", () => {
    const text = `${dollar}{asset.web.conf} ${dollar}{asset.shop.web.conf} ${dollar}{ref.ingress.web.url}`;
    expect(placeholdersIn(text)).toEqual([
      {
        type: "asset",
        text: `${dollar}{asset.web.conf}`,
        asset: { ref: "web.conf", scope: undefined, name: "web", key: "conf" },
      },
      {
        type: "asset",
        text: `${dollar}{asset.shop.web.conf}`,
        asset: { ref: "shop.web.conf", scope: "shop", name: "web", key: "conf" },
      },
      { type: "ref", text: `${dollar}{ref.ingress.web.url}`, kind: "ingress", name: "web", field: "url" },
    ]);
  });

  test.each(["plain", "$HOME", `${dollar}{HOME}`, `${dollar}{HOME:-x}`, `${dollar}{assets.a.b}`, `${dollar}{asset}`])(
    "%s belongs to the container",
    (text) => {
      expect(placeholdersIn(text)).toEqual([]);
      expect(substitute(text, () => "replaced")).toBe(text);
    },
  );

  test.each(["asset.", "asset.a", "asset.a.b.c.d", "asset.a..b", "asset.a.b c", "ref.", "ref.a.b", "ref.a..c"])(
    "%s is malformed and told so",
    (expression) => {
      expect(placeholdersIn(`x${dollar}{${expression}}y`)).toMatchObject([{ type: "malformed" }]);
    },
  );
});

test("substitution fills what it can and leaves the rest as it stands", () => {
  const text = `a=${dollar}{asset.web.conf}&b=${dollar}{asset.no.key}&c=${dollar}{X}`;
  const filled = substitute(text, (found) =>
    found.type === "asset" && found.asset.name === "web" ? "/x$&" : undefined,
  );
  expect(filled).toBe(`a=/x$&&b=${dollar}{asset.no.key}&c=${dollar}{X}`);
});

test("depends_on references", () => {
  expect(parseAssetReference("web.conf")).toEqual({ ref: "web.conf", scope: undefined, name: "web", key: "conf" });
  expect(parseAssetReference("shop.web.conf")?.scope).toBe("shop");
  for (const text of ["", "web", "a.b.c.d", "a..b", ".a", "a/b.c"]) expect(parseAssetReference(text)).toBeUndefined();
});
