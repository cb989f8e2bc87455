import type { PodCommand, PodInside } from "../observability/service/platform.ts";
import type { Controller } from "../orchestration/controller/controller.ts";
import type { ExecOptions } from "../orchestration/controller/requests.ts";
import type { Engine } from "../orchestration/engine/engine.ts";

type Inside = Pick<Controller, "execPod" | "runApp" | "statFile" | "readFiles" | "writeFiles">;

/** How the observability plane reaches into containers: through what `berth exec`, `run` and `cp` use. */
export function podInside(controller: Inside, engine: Pick<Engine, "exec" | "named">): PodInside {
  return {
    exec: (pod, command) => controller.execPod(pod, { command: command.command }, optionsOf(command)),
    run: (app, command) => controller.runApp(app, { command: command.command }, optionsOf(command)),
    look: (pod, command) =>
      engine.exec(engine.named(pod), { command, env: [], tty: false, interactive: false, user: "0" }),
    stat: (name, path) => controller.statFile({ name, path }),
    read: (name, path, by) => controller.readFiles({ name, path }, by),
    write: (name, path, by) => controller.writeFiles({ name, path }, by),
  };
}

function optionsOf({ tty, workdir, user, size, actor }: PodCommand): ExecOptions {
  return {
    ...{ tty, interactive: true, actor },
    ...(workdir === undefined ? {} : { workdir }),
    ...(user === undefined ? {} : { user }),
    ...(size === undefined ? {} : { size }),
  };
}
