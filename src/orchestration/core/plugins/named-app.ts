import { nameOk, scopeOk } from "../identity.ts";
import { appId } from "../naming.ts";

/**
 * The app that the words of a plugin's command are about, as containers and files are named after it: `data-main` for
 * `data/main` or `data/main.0`. Undefined where no word names one.
 */
export function namedApp(words: readonly string[]): string | undefined {
  const place = namedPlace(words);
  return place && appId(place.scope, place.name);
}

/** Its scope and name. */
export function namedPlace(words: readonly string[]): { scope: string; name: string } | undefined {
  for (const word of words) {
    if (word === "--") return undefined;
    const [scope = "", name = "", ...more] = word.split("/");
    const app = name.replace(/\.\d+$/, "");
    if (more.length === 0 && scopeOk(scope) && nameOk(app)) return { scope, name: app };
  }
  return undefined;
}
