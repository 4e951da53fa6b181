// A blocking exchange of 64 bytes each way over one connection: "exchange serve" prints its port and
// answers until its standard input ends; "exchange run PORT N" prints N times in ns.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { SIZE = 64 };

static int all(int fd, char *b, ssize_t (*move)(int, char *, size_t)) {
	for (int at = 0; at < SIZE;) {
		ssize_t n = move(fd, b + at, SIZE - at);
		if (n <= 0)
			return 0;
		at += n;
	}
	return 1;
}

static ssize_t reads(int fd, char *b, size_t n) { return read(fd, b, n); }
static ssize_t writes(int fd, char *b, size_t n) { return write(fd, b, n); }

static void *answer(void *p) {
	int l = *(int *)p, one = 1;
	char b[SIZE];
	for (;;) {
		int fd = accept(l, 0, 0);
		if (fd < 0)
			return 0;
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
		while (all(fd, b, reads) && all(fd, b, writes))
			;
		close(fd);
	}
}

static long long now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(int argc, char **argv) {
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof a;
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
	char b[SIZE] = {0};
	if (argc == 2 && !strcmp(argv[1], "serve")) {
		pthread_t t;
		if (bind(fd, (void *)&a, size) || listen(fd, 8) || getsockname(fd, (void *)&a, &size))
			return 1;
		printf("%d\n", ntohs(a.sin_port));
		fflush(stdout);
		pthread_create(&t, 0, answer, &fd);
		while (read(0, b, SIZE) > 0)
			;
		return 0;
	}
	if (argc != 4)
		return 2;
	a.sin_port = htons(atoi(argv[2]));
	if (connect(fd, (void *)&a, size))
		return 1;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	int n = atoi(argv[3]);
	long long *took = malloc(n * sizeof *took);
	for (int i = -n / 5 - 1; i < n; i++) {
		long long from = now();
		if (!all(fd, b, writes) || !all(fd, b, reads))
			return 1;
		if (i >= 0)
			took[i] = now() - from;
	}
	for (int i = 0; i < n; i++)
		printf("%lld\n", took[i]);
	return 0;
}
