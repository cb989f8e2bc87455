import type { Senders } from "../api/sender.ts";
import type { AppWatch } from "../api/app-facts.ts";
import type { PodMeasures } from "../api/pod-measure.ts";
import type { PodEndpoints } from "../api/pod-endpoint.ts";
import type { SendWebhook } from "../../base/deliver/webhook.ts";
import type { UsageOf } from "./desired/autoscale.ts";
import type { SleepRoom } from "./rollout/sleep.ts";
import type { InsideNetwork } from "./rollout/drill-pod.ts";
import type { DrillRoom } from "./rollout/drill-room.ts";
import type { VolumeRoom } from "./rollout/volume-room.ts";
import type { Controller } from "./controller.ts";
import type { CallbackRoom } from "./plugins/callbacks.ts";
import type { PluginRoom } from "./state/plugin-room.ts";
import type { RunCalls } from "./plugins/run-calls.ts";
import type { Reconciler } from "./reconcile/reconciler.ts";
import type { Outside } from "./state/context.ts";

export interface ControllerParts extends Outside {
  /** How the closed network of a drill is entered; absent: as any other. */
  insideNetwork?: InsideNetwork;
  sendWebhook: SendWebhook;
  /** Between two readings of what the pods use; 0 turns the collector off. */
  statsIntervalMs: number;
  /** Without them there are none. */
  plugins?: PluginRoom;
  /** CPU figures for the autoscaler; without them no count moves by itself. */
  usageOf?: UsageOf;
}

export interface RunningController {
  controller: Controller;
  /** The replicas that run, for the ingress and others that send requests to them. */
  endpoints: PodEndpoints;
  /** Deployments and statefulsets with their replicas, for the code that shows them. */
  apps: AppWatch;
  /** Apps that requests wake. */
  sleep: Pick<SleepRoom, "stateOf" | "requested">;
  /** Who may call back from the platform network. */
  callbacks: CallbackRoom;
  /** Whose a container on the platform network is. */
  senders: Senders;
  /** What runs of plugins may ask. */
  runCalls: RunCalls;
  reconciler: Reconciler;
  /** Volumes of apps, for what brings their data back. */
  volumes: VolumeRoom;
  /** Where copies of apps are tried. */
  drills: DrillRoom;
  /** What the pods use, for the metrics. */
  measures: PodMeasures;
  /** Takes in what runs, before anybody is answered; gives up after `limitMs`, or when the engine is away. */
  firstLook(limitMs: number): Promise<void>;
  /** Follows the engine, reconciles, runs and sends until `signal` aborts; resolves when all of it has ended. */
  run(signal: AbortSignal): Promise<void>;
}
