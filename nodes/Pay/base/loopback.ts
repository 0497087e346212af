/** Requests to such a host never leave this machine. */
export function isLoopback(hostname: string): boolean {
	if (hostname === 'localhost' || hostname.endsWith('.localhost')) return true;
	// URL writes each IPv4 address as four numbers; a name may begin like one.
	return hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}
