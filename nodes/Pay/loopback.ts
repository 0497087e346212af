/** Whether a URL's host never leaves this machine. */
export const isLoopback = (hostname: string) =>
	/^(localhost|.*\.localhost|127(\.\d{1,3}){3}|\[::1\])$/i.test(hostname);
