// Child processes of the launcher. Plain JavaScript for Node 20, because this runs before the project's Node is installed.
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
 * Runs a command.
 * @returns its exit code; 130 after SIGINT, 143 after another signal. Ctrl-C reaches the child from the terminal, and the
 *   launcher waits for it to clean up. A SIGTERM reaches only the launcher, which forwards it.
 * @param quiet set for a build before a command: its output is shown only if it builds something or fails, and on
 *   standard error, because standard output is for the command
 * @param onOutput receives the output, which is shown on standard error only if the command fails
 */
export function run(command, args, { cwd, env, stdio = "inherit", quiet = false, onOutput }) {
  return new Promise((resolve, reject) => {
    // On Windows, npm, pnpm and the tools are .cmd files, which need a shell.
    const child = spawn(command, args, {
      cwd,
      env,
      stdio: quiet || onOutput ? ["inherit", "pipe", "pipe"] : stdio,
      shell: windows,
    });
    const show = quiet || onOutput ? bufferOutput(child, onOutput) : () => {};
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
          ? new LauncherError("COMMAND_NOT_FOUND", `${command} was not found; install it or add it to the PATH`)
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

/** Matches turbo's message for a task that is not in its cache. */
const CACHE_MISS = /cache (miss|bypass)/;

/**
 * Buffers a build's output, and shows it on standard error as soon as the build has a cache miss.
 * @param onOutput receives the output as it arrives; if given, the output stays buffered
 * @returns a function that shows the buffer, and from then on all output
 */
function bufferOutput({ stdout, stderr }, onOutput) {
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
      onOutput?.(text);
      if (!onOutput && (shown || CACHE_MISS.test(held))) show();
    });
  return show;
}

/**
 * The environment of every command: without npm's own variables, which an inner npm or pnpm would read as its
 * configuration, and with the telemetry of tools disabled.
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
