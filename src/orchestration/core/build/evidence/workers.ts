import { readHints } from "../hints/hints.ts";
import type { SourceTree } from "../runtime.ts";
import type { Sources } from "./sources.ts";

const workers: readonly [library: RegExp, name: string, command: string][] = [
  [/^[ \t"']{0,6}celery\b/m, "Celery", '["celery", "-A", "NAME", "worker"]'],
  [/^[ \t"']{0,6}(?:django-rq|rq)\b/m, "RQ", '["rq", "worker"]'],
  [/^[ \t"']{0,6}dramatiq\b/m, "Dramatiq", '["dramatiq", "MODULE"]'],
  [/^[ \t]*gem ["']sidekiq["']/m, "Sidekiq", '["bundle", "exec", "sidekiq"]'],
  [/^[ \t]*gem ["']delayed_job/m, "Delayed Job", '["bundle", "exec", "rake", "jobs:work"]'],
  [/^[ \t]*gem ["']good_job["']/m, "GoodJob", '["bundle", "exec", "good_job", "start"]'],
  [/^[ \t]*gem ["']solid_queue["']/m, "Solid Queue", '["bin/jobs"]'],
  [/"laravel\/horizon"/, "Horizon", '["php", "artisan", "horizon"]'],
  [/"laravel\/framework"/, "Laravel's queue", '["php", "artisan", "queue:work"]'],
];

/** What does work beside the requests or at set times, and that no file starts. */
export function workerNotes(tree: SourceTree, sources: Sources, text: string): string[] {
  return [...workerNote(tree, text), ...scheduleNotes(tree, sources)];
}

function workerNote(tree: SourceTree, text: string): string[] {
  const runs = readHints(tree).processes.some(({ type }) => type !== "web" && type !== "release");
  const found = runs ? undefined : workers.find(([library]) => library.test(text));
  if (found === undefined) return [];
  const [, name, command] = found;
  return [`no worker of ${name} runs; to run one, write a deployment with the same build and command: ${command}`];
}

const schedules: readonly [shows: RegExp, name: string, way: string][] = [
  [
    /\$schedule->(?:command|job|call|exec)\(|\bSchedule::(?:command|job|call|exec)\(/,
    "Laravel's schedule",
    'a cronjob with the same build, schedule: "* * * * *" and command: ["php", "artisan", "schedule:run"]',
  ],
  [
    /\bbeat_schedule\b|\bCELERY_BEAT_SCHEDULE\b/,
    "Celery's schedule",
    'a deployment with command: ["celery", "-A", "NAME", "beat"]',
  ],
  [
    /^CRONJOBS\s{0,3}=\s{0,3}[[(]/m,
    "CRONJOBS of django-crontab",
    "a cronjob with the same build for each of its lines",
  ],
];

/** Work at set times that the program leaves to another process. */
function scheduleNotes(tree: SourceTree, { files }: Sources): string[] {
  const whenever = tree.has("config/schedule.rb")
    ? [
        "nothing runs config/schedule.rb, as there is no cron in the image; write a cronjob with the same build for each of its lines",
      ]
    : [];
  const found = schedules.flatMap(([shows, name, way]) => {
    const file = files.find(({ text }) => shows.test(text));
    return file === undefined ? [] : [`nothing runs ${name} (${file.path}); to run it, write ${way}`];
  });
  return [...whenever, ...found];
}
