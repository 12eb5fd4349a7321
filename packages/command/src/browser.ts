import { spawn } from "node:child_process";

/** The command that opens a URL in the user's browser; undefined if there is no browser, or nobody would see it. */
export function browserCommand(
  environment: NodeJS.ProcessEnv = process.env,
  platform: NodeJS.Platform = process.platform,
): readonly string[] | undefined {
  if (environment["CI"] !== undefined && environment["CI"] !== "") return undefined;
  if (platform === "darwin") return ["open"];
  if (platform === "win32") return ["cmd", "/c", "start", ""];
  return environment["DISPLAY"] || environment["WAYLAND_DISPLAY"] ? ["xdg-open"] : undefined;
}

/** Opens a URL in the user's browser, if there is one. Otherwise the user finds the address in the printed table. */
export function openBrowser(url: string): void {
  const [command, ...args] = browserCommand() ?? [];
  if (command === undefined) return;
  const child = spawn(command, [...args, url], { stdio: "ignore", detached: true });
  child.on("error", () => {});
  child.unref();
}
