// An echo server that is nothing but a loop around epoll: what a server of streams costs at least.
// Usage: loop PORT. It listens on loopback, and takes one read and one write for each event.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static char buf[64 << 10];

static void die(const char *what) {
	perror(what);
	exit(1);
}

int main(int argc, char **argv) {
	int one = 1, l = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), ep = epoll_create1(0);
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(argc > 1 ? atoi(argv[1]) : 7000), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	setsockopt(l, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (bind(l, (struct sockaddr *)&at, sizeof at) || listen(l, 4096)) die("listen");
	struct epoll_event e = {.events = EPOLLIN, .data.fd = l}, all[256];
	if (epoll_ctl(ep, EPOLL_CTL_ADD, l, &e)) die("epoll_ctl");
	for (;;) {
		int n = epoll_wait(ep, all, 256, -1);
		for (int i = 0; i < n; i++) {
			int fd = all[i].data.fd;
			if (fd == l) {
				int c = accept4(l, 0, 0, SOCK_NONBLOCK);
				if (c < 0) continue;
				setsockopt(c, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
				e = (struct epoll_event){.events = EPOLLIN | EPOLLET, .data.fd = c};
				epoll_ctl(ep, EPOLL_CTL_ADD, c, &e);
				continue;
			}
			for (;;) { // edge-triggered: until a read finds less than it asked for
				ssize_t got = read(fd, buf, sizeof buf), put = 0;
				if (got == 0) close(fd);
				if (got <= 0) break;
				while (put < got) {
					ssize_t k = write(fd, buf + put, got - put);
					if (k > 0) put += k; // a full socket is tried again: the load takes everything
				}
				if (got < (ssize_t)sizeof buf) break;
			}
		}
	}
}
