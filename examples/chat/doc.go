// Chat is a server of rooms: "/join <room>" goes into one, "/leave" out of it, "/quit" ends the
// connection. What else is written goes to all in the room, with the address of who wrote it. Who
// doesn't read loses what there is no room for, and then the connection; the others don't wait.
package main
