/** The npm packages that contain a Node binary, by platform and architecture. */
export declare const NODE_PACKAGES: Readonly<Record<string, string>>;
