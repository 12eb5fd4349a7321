import type { Environment } from "./output.ts";

/** How commands are typed here: by the program's name, or in a checkout as a script of npm or pnpm. */
export function asTypedHere(text: string, environment: Environment): string {
  const pnpm = environment["npm_config_user_agent"]?.startsWith("pnpm/") === true;
  const scripts = pnpm ? text.replaceAll("`npm run ", "`pnpm ") : text;
  if (environment["npm_lifecycle_event"] !== "sotto") return scripts;
  return scripts.replaceAll("`sotto ", pnpm ? "`pnpm -s sotto " : "`npm run -s sotto -- ");
}
