import { errorEnvelope } from "../base/http/front/refusal.ts";
import { jsonResponse } from "../base/http/answers.ts";
import { type JobRun, runCronjob, runJob } from "../orchestration/api/jobs.ts";
import type { Translation } from "./translation.ts";

const paths: readonly string[] = [runJob.path, runCronjob.path];
const good: readonly JobRun["status"][] = ["succeeded", "scheduled", "running"];

/** That client exits with 1 for an error answer alone, and a pipeline has to see that its job failed. */
export const failedJobs: Translation = {
  claims: (method, path) => method === "POST" && paths.includes(path),
  async answer(answer) {
    if (answer.status !== 200) return answer;
    const { data } = (await answer.json()) as { data: JobRun };
    if (good.includes(data.status)) return jsonResponse(200, { status: "ok", data });
    const { kind, scope, name, status, exit_code: code } = data;
    const why = data.error ?? (code === undefined ? status : `exit code ${code}`);
    return jsonResponse(500, { ...errorEnvelope({ status: 500, message: `${kind}/${scope}/${name}: ${why}` }), data });
  },
};
