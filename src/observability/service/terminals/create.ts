import { Failure } from "../../../base/wire/failure.ts";
import { mayReach, unseen } from "../../../access/apps.ts";
import type { Grant } from "../../core/tokens/grant.ts";
import type { AuditTrail } from "../audit.ts";
import type { ObservabilityContext } from "../context.ts";
import type { PodApp, PodCommand, PodSession } from "../platform.ts";
import type { Pods } from "../pods/create.ts";
import type { Streams } from "../streams.ts";
import type { TerminalLimits } from "./limits.ts";
import { converse, type TerminalEvents } from "./converse.ts";

/** A command in a pod, or in a container of its own beside an app. */
export type TerminalTarget = { pod: string } | { app: PodApp };

/** Terminals in containers. Each ends with its token, with its client, and after a while. */
export interface Terminals {
  limits: TerminalLimits;
  /**
   * Makes room for a terminal; nothing runs before the socket has opened. Fails `not_found` for what the token may not reach,
   * `too_many` and `unavailable` where there are too many terminals.
   */
  open(
    call: { grant: Grant; actor: string; ip: string; requestId: string },
    target: TerminalTarget,
    command: Omit<PodCommand, "actor">,
  ): Promise<{ events: TerminalEvents; close(): void }>;
}

interface Parts {
  pods: Pick<Pods, "get">;
  streams: Streams;
  audit: AuditTrail;
}

export function createTerminals(context: ObservabilityContext, { pods, streams, audit }: Parts): Terminals {
  const { platform, limits, clock, log } = context;
  const { perTokenMax, openMax } = limits.terminals;
  const open = new Set<{ id: string }>();
  const enter = ({ id }: Grant) => {
    if (open.size >= openMax) {
      throw new Failure("unavailable", `there are ${openMax} terminals open: close some`, { retryAfterSeconds: 5 });
    }
    if ([...open].filter((one) => one.id === id).length >= perTokenMax) {
      const text = `this token has ${perTokenMax} terminals open: close some first`;
      throw new Failure("too_many", text, { retryAfterSeconds: 5 });
    }
    const mine = { id };
    open.add(mine);
    return () => void open.delete(mine);
  };
  const check = async (grant: Grant, target: TerminalTarget) => {
    if ("pod" in target) return void (await pods.get(grant, target.pod));
    if (!mayReach(grant, target.app)) throw unseen(`app ${JSON.stringify(`${target.app.scope}/${target.app.name}`)}`);
  };
  return {
    limits: limits.terminals,
    async open(call, target, command) {
      const leave = enter(call.grant);
      // Before anything is waited for: a token that is revoked meanwhile must not leave a terminal behind.
      const stream = openStream(streams, call.grant, leave);
      const close = () => {
        stream.close();
        leave();
      };
      try {
        await check(call.grant, target);
      } catch (error) {
        close();
        throw error;
      }
      const asked = { ...command, actor: call.actor };
      const startedAt = clock.steady();
      const start = (size: PodCommand["size"]): Promise<PodSession & { container?: string }> => {
        const sized = { ...asked, size: size ?? command.size };
        return "pod" in target ? platform.inside.exec(target.pod, sized) : platform.inside.run(target.app, sized);
      };
      const ended = (outcome: string, container: string | undefined) => {
        close();
        const { actor, ip, requestId } = call;
        const pod = "pod" in target ? target.pod : (container ?? "");
        const params = { pod, program: command.command[0] ?? "", tty: String(command.tty) };
        void audit.record({
          ...{ actor, ip, requestId, outcome, params, durationMs: clock.steady() - startedAt },
          ...{ action: "terminal ended", target: targetText(target) },
        });
      };
      const events = converse({
        start,
        ended,
        signal: stream.signal,
        tty: command.tty,
        limits: limits.terminals,
        clock,
        log,
      });
      return { events, close };
    },
  };
}

function openStream(streams: Streams, grant: Grant, leave: () => void) {
  try {
    return streams.open(grant);
  } catch (error) {
    leave();
    throw error;
  }
}

function targetText(target: TerminalTarget): string {
  return "pod" in target
    ? `/api/pat/v1/exec/${target.pod}`
    : `/api/pat/v1/apps/${target.app.scope}/${target.app.name}/run`;
}
