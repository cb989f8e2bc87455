import type { ShownBuild } from "../../observability/api/builds.ts";
import { cancelBuild, retryBuild } from "../../orchestration/api/builds.ts";
import { api } from "../data/api.ts";
import { lacks } from "../data/session.ts";
import { isUnderWay, sourceText } from "../text/builds.ts";
import { Button } from "./button.tsx";
import { ask } from "./dialog.tsx";
import { say } from "../data/notices.ts";

/** The page of a build. */
export function buildPath({ scope, name, id }: Pick<ShownBuild, "scope" | "name" | "id">): string {
  return `/builds/${[scope, name, id].map(encodeURIComponent).join("/")}`;
}

/** Cancel, or build again. */
export function BuildButtons({ build, again, look }: { build: ShownBuild; again: () => void; look?: "bare" }) {
  const missing = lacks("actions");
  const looks = look === undefined ? {} : { look };
  return isUnderWay(build) ? (
    <Button {...looks} hindrance={missing} onClick={() => askCancel(build, again)}>
      Cancel…
    </Button>
  ) : (
    <Button {...looks} hindrance={missing} onClick={() => askRetry(build, again)}>
      Build again…
    </Button>
  );
}

const named = ({ scope, name, id }: ShownBuild) => ({ params: { scope, name, id } });

function askCancel(build: ShownBuild, again: () => void): void {
  const app = `${build.scope}/${build.name}`;
  ask({
    title: `Cancel the build of ${app}`,
    verb: "Cancel the build",
    danger: true,
    command: `berth build cancel ${app} ${build.id}`,
    effects: [
      { text: "The build ends, and no image is made", ends: true },
      { text: "Who waits for it with berth up sees it fail, and nothing is deployed", ends: true },
      { text: "What runs now goes on" },
    ],
    run: async () => {
      await api.call(cancelBuild, named(build));
      say(`The build of ${app} was cancelled`);
      again();
    },
  });
}

function askRetry(build: ShownBuild, again: () => void): void {
  const app = `${build.scope}/${build.name}`;
  ask({
    title: `Build ${app} again`,
    verb: "Build",
    command: `berth build retry ${app} ${build.id}`,
    effects: [
      { text: `The same source is built once more: ${sourceText(build)}` },
      { text: "The server builds one image at a time; this one joins the queue" },
      { text: "Nothing is deployed by this" },
      ...(build.status === "succeeded" ? [{ text: "The new image takes the name of the present one" }] : []),
    ],
    run: async () => {
      await api.call(retryBuild, named(build));
      say(`The build of ${app} is in the queue`, "work");
      again();
    },
  });
}
