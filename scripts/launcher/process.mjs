// Child processes of the launcher. Plain JavaScript for Node 20: this runs before the project's own Node is there.
import { spawn } from "node:child_process";

const windows = process.platform === "win32";

/** A failure the user can act on: printed as one line, never as a stack trace. */
export class LauncherError extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/**
 * Runs a command and resolves to its exit code (128 + signal number style codes where a signal ended it).
 * Ctrl-C reaches the child from the terminal; the launcher only waits for it to clean up. A SIGTERM goes to the
 * launcher alone, so it is passed on.
 * @param quiet a build whose output goes to standard error, and only if it builds something or fails: standard output is
 *   for the command that follows
 */
export function run(command, args, { cwd, env, stdio = "inherit", quiet = false }) {
  return new Promise((resolve, reject) => {
    // npm, pnpm and the tools are .cmd files on Windows, which only a shell starts.
    const child = spawn(command, args, {
      cwd,
      env,
      stdio: quiet ? ["inherit", "pipe", "pipe"] : stdio,
      shell: windows,
    });
    const show = quiet ? heldBack(child) : () => {};
    const wait = () => {};
    const pass = () => child.kill("SIGTERM");
    process.on("SIGINT", wait);
    process.on("SIGTERM", pass);
    const done = () => {
      process.off("SIGINT", wait);
      process.off("SIGTERM", pass);
    };
    child.once("error", (error) => {
      done();
      reject(
        error.code === "ENOENT"
          ? new LauncherError("COMMAND_NOT_FOUND", `${command} was not found; it has to be on the PATH`)
          : new LauncherError("COMMAND_NOT_STARTED", `${command} could not be started: ${error.message}`),
      );
    });
    child.once("close", (status, signal) => {
      done();
      if (status !== 0) show();
      if (signal === "SIGINT") resolve(130);
      else if (signal) resolve(143);
      else resolve(status ?? 1);
    });
  });
}

/** turbo's message for a task that is not in its cache. */
const BUILDS = /cache (miss|bypass)/;

/** Buffers the output of a build until it builds something. @returns a function that writes the buffer */
function heldBack({ stdout, stderr }) {
  let held = "";
  let shown = false;
  const show = () => {
    process.stderr.write(held);
    held = "";
    shown = true;
  };
  for (const stream of [stdout, stderr])
    stream.setEncoding("utf8").on("data", (text) => {
      held += text;
      if (shown || BUILDS.test(held)) show();
    });
  return show;
}

/**
 * The environment of every command: npm's own variables are removed (an inner npm or pnpm would read them as
 * its configuration), and telemetry of tools is switched off.
 */
export function cleanEnvironment(source, path) {
  const injected =
    /^(npm_(lifecycle|package)_|npm_(command|execpath|node_execpath)$|npm_config_(local_prefix|user_agent)$)/;
  const kept = Object.entries(source).filter(([name]) => !injected.test(name));
  return {
    ...Object.fromEntries(kept),
    PATH: path,
    TURBO_TELEMETRY_DISABLED: "1",
    TURBO_NO_UPDATE_NOTIFIER: "1",
    HARDHAT_DISABLE_TELEMETRY_PROMPT: "true",
    DO_NOT_TRACK: "1",
  };
}
