export function cleanEnvironment(source: NodeJS.ProcessEnv, path: string): NodeJS.ProcessEnv;
