import { useEffect, useRef } from "preact/hooks";
import type { ShownBuild } from "../../../observability/api/builds.ts";
import { buildPath } from "../../parts/build-buttons.tsx";
import { BuildOutput } from "../../parts/build-output.tsx";

/** The build that a deploy waits for, as it prints. */
export function BuildWait({ build }: { build: ShownBuild }) {
  const place = useRef<HTMLElement>(null);
  useEffect(() => place.current?.scrollIntoView({ block: "nearest" }), []);
  return (
    <section ref={place} class="section build-wait">
      <h2>Build</h2>
      <p class="soft small">{`The image of ${build.scope}/${build.name} is built first; then it is deployed from here.`}</p>
      <a href={buildPath(build)}>Its page, where it can be cancelled</a>
      <BuildOutput build={build} onEnd={() => undefined} />
    </section>
  );
}
