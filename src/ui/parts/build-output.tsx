import { useEffect, useState } from "preact/hooks";
import { targetOf } from "../../base/wire/client.ts";
import { followBuild } from "../../orchestration/api/builds.ts";
import { planePath } from "../../observability/api/plane-endpoint.ts";
import { openOutput } from "../data/output.ts";
import type { ShownLine } from "../text/lines.ts";
import { LogList } from "./log-list.tsx";

interface BuildOutputProps {
  build: { scope: string; name: string; id: string };
  /** Another number reads it again: the build was started once more. */
  round?: number;
  onEnd: () => void;
}

/** What a build prints, as it prints it. */
export function BuildOutput({ build: { scope, name, id }, round = 0, onEnd }: BuildOutputProps) {
  const [lines, setLines] = useState<readonly ShownLine[]>([]);
  const [follow, setFollow] = useState(true);
  const target = targetOf(planePath(followBuild), { params: { scope, name, id } });
  useEffect(() => openOutput(target, { onLines: setLines, onEnd }), [target, round]);
  return <LogList label={`Output of build ${id}`} lines={lines} plain follow={follow} onFollow={setFollow} />;
}
