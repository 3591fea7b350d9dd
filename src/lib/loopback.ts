const loopback = /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|::1|\[::1\])$/

/** Whether a host, as a URL has it, leads every machine to itself. */
export const isLoopback = (host: string): boolean => loopback.test(host)
