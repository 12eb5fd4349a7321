import { existsSync, readdirSync } from "node:fs";
import { resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { findTemplate } from "./create.ts";
import { CreateError } from "./errors.ts";
import { TEMPLATES } from "./templates.ts";

/** The terminal that is asked, and the folder from which the user called. */
export interface Terminal {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  readonly folder: string;
}

/** The templates with their numbers, for a terminal of 80 columns. */
const MENU = TEMPLATES.map(({ name, what }, index) => `  ${index + 1}  ${name.padEnd(25)}${what}`).join("\n");

/** A template's name, from its name or its number in the menu. @throws CreateError TEMPLATE_UNKNOWN */
const chosen = (answer: string): string => TEMPLATES[Number(answer) - 1]?.name ?? findTemplate(answer).name;

/** @throws CreateError FOLDER_NOT_EMPTY */
function freeFolder(name: string, { folder }: Terminal): string {
  const path = resolve(folder, name);
  if (!existsSync(path) || readdirSync(path).length === 0) return name;
  throw new CreateError("FOLDER_NOT_EMPTY", `${path} is not an empty folder; choose another one`);
}

/**
 * Asks for the template and the folder that are missing, and asks again after a wrong answer.
 * @returns undefined if the user ends the questions with Ctrl-C or Ctrl-D
 */
export async function ask(
  terminal: Terminal,
  { template, folder }: { readonly template: string | undefined; readonly folder: string | undefined },
): Promise<{ template: string; folder: string } | undefined> {
  const { input, output } = terminal;
  const questions = createInterface({ input, output, terminal: true });
  const answer = async (question: string, check: (answer: string) => string): Promise<string> => {
    for (;;) {
      const text = (await questions.question(question)).trim();
      try {
        return check(text);
      } catch (error) {
        if (!(error instanceof CreateError)) throw error;
        output.write(`${error.message}\n`);
      }
    }
  };
  try {
    if (template === undefined) output.write(`\n${MENU}\n\n`);
    const name = template ?? (await answer("Template, by number or name: ", chosen));
    const suggested = `my-${name}`;
    const into = folder ?? (await answer(`Folder [${suggested}]: `, (text) => freeFolder(text || suggested, terminal)));
    return { template: name, folder: into };
  } catch (error) {
    if ((error as { code?: unknown }).code !== "ABORT_ERR") throw error;
    output.write("\n");
    return undefined;
  } finally {
    questions.close();
  }
}
