import { pathProblem } from "../../base/pure/source-tree.ts";
import { Failure } from "../../base/wire/failure.ts";
import { schemaReader } from "../../base/wire/read-body.ts";
import { GitAsk } from "../api/sources.ts";
import { identityProblems } from "./identity.ts";

const readBody = schemaReader(GitAsk, 50);

/** A branch, a tag or a commit, and nothing that git reads as a flag, a range or a pattern. */
const refPattern = /^[A-Za-z0-9_][A-Za-z0-9_./+-]*$/;

/** The body of POST /builds/sources/git. Fails `invalid` with the path of each fault. */
export function readGitAsk(given: unknown): GitAsk {
  const body = readBody(given);
  const { scope, name, url, ref, folder } = body;
  const [problem] = identityProblems("app", scope, name);
  if (problem !== undefined) throw new Failure("invalid", `${problem.path}: ${problem.message}`);
  gitUrl(url);
  if (ref !== undefined && (!refPattern.test(ref) || ref.includes("..") || ref.endsWith(".lock"))) {
    throw new Failure("invalid", `ref: ${JSON.stringify(ref)} is not a branch, a tag or a commit`);
  }
  const wrong = folder === undefined || folder === "" ? undefined : pathProblem(folder.replace(/\/+$/, ""));
  if (wrong !== undefined) throw new Failure("invalid", `folder: ${JSON.stringify(folder)} ${wrong}`);
  return body;
}

/** The address of a repository. http is for servers that may reach private addresses; that is decided later. */
export function gitUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (/^(?:ssh:|git@|[\w.-]+@[\w.-]+:)/.test(text)) {
    const instead = "use its https address with a token (--git-token), or push to the server: berth git-remote";
    throw new Failure("invalid", `url: repositories over ssh are not supported: ${instead}`);
  }
  if (url === undefined || (url.protocol !== "https:" && url.protocol !== "http:")) {
    throw new Failure(
      "invalid",
      "url: write the https address of a repository, such as https://git.example.com/shop.git",
    );
  }
  if (url.username !== "" || url.password !== "") {
    const instead = "store the token with berth config set, and name its key with --git-token (token_key in the API)";
    throw new Failure("invalid", `url: a user or password in the address would be stored and shown: ${instead}`);
  }
  if (url.search !== "" || url.hash !== "") throw new Failure("invalid", "url: leave out what follows ? and #");
  if (/[\x00-\x20\x7f\\]/.test(text))
    throw new Failure("invalid", "url: has a space, a backslash or a control character");
  return url;
}
