/*
 * For LD_PRELOAD: the wall clock repeatedly jumps an hour ahead and, a second later, an hour back,
 * as if a time daemon or an operator set it. Other clocks continue.
 */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { HOUR_S = 3600 };

static time_t ahead_s(void)
{
	struct timespec now;

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
	return now.tv_sec % 2 ? HOUR_S : 0;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
	int code = (int)syscall(SYS_clock_gettime, clock, now);

	if (code == 0 && clock == CLOCK_REALTIME)
		now->tv_sec += ahead_s();
	return code;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	int code = (int)syscall(SYS_gettimeofday, now, zone);

	if (code == 0)
		now->tv_sec += ahead_s();
	return code;
}

time_t time(time_t *at)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (at)
		*at = now.tv_sec;
	return now.tv_sec;
}
