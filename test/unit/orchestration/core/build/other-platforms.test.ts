// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a Dockerfile holds such text
import { expect, test } from "bun:test";
import { generateDockerfile } from "../../../../../src/orchestration/core/build/generate.ts";
import { treeOf } from "../../../../support/source-tree.ts";

type Files = Record<string, string>;
function build(files: Files) {
  const result = generateDockerfile(treeOf(files), {});
  if (!result.ok) throw new Error(result.problem);
  return result.build;
}
const flask = { "requirements.txt": "flask\ngunicorn\n", "app.py": "from flask import Flask\napp = Flask(__name__)\n" };
const render = (command: string) =>
  `services:\n  - type: web\n    runtime: python\n    buildCommand: ${command}\n    startCommand: gunicorn app:app\n`;

test("packages of an Aptfile and of nixpacks.toml are installed, and what is no package is said", () => {
  const nixpacks = '[phases.setup]\naptPkgs = ["...", "libvips"]\nnixPkgs = ["python311", "ffmpeg", "xyz"]\n';
  const { dockerfile, notes } = build({
    ...flask,
    Aptfile: "# tools\nqpdf jq\nhttps://x.example/a.deb\n",
    "nixpacks.toml": nixpacks,
  });
  expect(dockerfile).toContain(
    "FROM ${BASE}\nRUN apt-get update && apt-get install -y --no-install-recommends libvips ffmpeg qpdf jq &&",
  );
  expect(notes.join("\n")).toContain("the packages of Aptfile (qpdf, jq) are installed from Debian");
  const go = build({ "go.mod": "module a\n", "main.go": "package main\n", Aptfile: "qpdf\n" }).dockerfile;
  expect(go).toContain("ARG RUN_BASE=debian:stable-slim");
  expect(go.match(/apt-get install -y --no-install-recommends ca-certificates qpdf/g)).toHaveLength(2);
});

test("lines of a build script that the image does not run are said, migrations as a release step", () => {
  const script = "#!/bin/sh\nset -e\npip install -r requirements.txt\nflask db upgrade\n./fetch-models\n";
  const { notes } = build({ ...flask, "build.sh": script, "render.yaml": render("chmod +x build.sh && ./build.sh") });
  expect(notes.join("\n")).toContain('write release: { command: ["sh", "-c", "flask db upgrade"] }');
  expect(notes.join("\n")).toContain('render.yaml builds with "./fetch-models", which the image does not run');
  expect(build({ ...flask, "render.yaml": render("pip install -r requirements.txt") }).notes.join()).not.toContain(
    "builds with",
  );
});

test("manage.py in a sub-folder is started from there", () => {
  const { dockerfile, notes } = build({
    "requirements.txt": "django\ngunicorn\n",
    "site/manage.py": "os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'core.settings')",
    "site/core/wsgi.py": "",
    "site/core/settings.py": "STATIC_ROOT = 1\n",
  });
  expect(dockerfile).toContain('CMD ["gunicorn","--bind","0.0.0.0:8000","--chdir","site","core.wsgi:application"]');
  expect(dockerfile).toContain("RUN python site/manage.py collectstatic");
  expect(notes.join()).toContain('["python", "site/manage.py", "migrate"]');
});

test("a Procfile that names another jar starts the one that is built", () => {
  const files = {
    "build.gradle": "id 'org.springframework.boot'",
    Procfile: "web: java -jar build/libs/old-1.0.jar --a\n",
  };
  expect(build(files).adapt("java -jar build/libs/old-1.0.jar --a")).toEqual({ command: "java -jar /app/app.jar --a" });
});

test("frameworks and versions that need their own start", () => {
  const nest = '{"monorepo":true,"root":"apps/api","projects":{"mail":{"type":"application","root":"apps/mail"}}}';
  const scripts =
    '{"scripts":{"build":"nest build","start:prod":"node dist/main"},"dependencies":{"@nestjs/core":"*"}}';
  expect(build({ "package.json": scripts, "nest-cli.json": nest }).dockerfile).toContain(
    'CMD ["node","dist/apps/api/main"]',
  );
  const rack = build({ Gemfile: 'gem "rack"\n', "config.ru": "", "Gemfile.lock": "RUBY VERSION\n   ruby 2.7.8p225\n" });
  expect(rack.dockerfile).toContain("ruby:2.7.8-slim");
  expect(rack.dockerfile).toContain("RUN bundle add puma");
  const csproj = '<Project Sdk="Microsoft.NET.Sdk.Web"><TargetFramework>netcoreapp3.1</TargetFramework>';
  expect(build({ "a.csproj": csproj }).dockerfile).toContain("dotnet/aspnet:3.1");
  const phoenix = { "mix.exs": 'app: :shop\n{:phoenix, "~> 1.6"}', "config/prod.exs": "import Config\n" };
  expect(build(phoenix).dockerfile).toContain(":serve_endpoints, true");
  expect(build({ ...phoenix, "config/runtime.exs": "PHX_SERVER" }).dockerfile).not.toContain(":serve_endpoints");
  const go = build({ "go.mod": "module a\n", "main.go": 'package main\nfunc main() { app.Listen(":4321") }\n' });
  expect([go.port, go.readsPort]).toEqual([4321, false]);
});
